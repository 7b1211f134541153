#!/bin/bash
# A fresh Debian with systemd, in namespaces of its own; another script sources this file, after it has set `directory`, a
# path that does not exist yet. Needs root, mmdebstrap and cgroup2. The system ends with the script.
# shellcheck disable=SC2154 # directory
set -euo pipefail
for tool in mmdebstrap unshare nsenter findmnt dpkg-deb; do
  if ! command -v "$tool" > /dev/null; then
    echo "$tool is missing; install mmdebstrap, util-linux, mount and dpkg" >&2
    exit 1
  fi
done
root=$directory/root
group=
systemd=

step() { printf '== %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "$0" "$*" >&2
  inside journalctl --no-pager --unit platform --lines 30 >&2 || true
  exit 1
}

# Runs a command in the booted system.
inside() {
  nsenter --target "$systemd" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

# grep -q closes a long pipe before its end, which pipefail reports as a failure: use it for short texts only.
shell_inside() { inside bash -euo pipefail -c "$1"; }

until_true() {
  local what=$1
  shift
  for _ in $(seq 600); do
    if "$@" > /dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  fail "$what: not within two minutes"
}

install_package() {
  cp "$1" "$root/root/package.deb"
  inside dpkg --force-downgrade --force-confold -i /root/package.deb
}

build_root() {
  # Standard input hides the host name of the mirror from the guest.
  (cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2> /dev/null || true) |
    mmdebstrap --quiet --variant=minbase --mode=root --include=systemd,systemd-sysv,curl,adduser,libatomic1,nats-server bookworm "$root" -
  echo 0123456789abcdef0123456789abcdef > "$root/etc/machine-id"
  for unit in systemd-networkd systemd-resolved systemd-timesyncd systemd-logind systemd-firstboot console-getty getty@tty1; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
  done
  ln -sf /lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
}

# Runs as the first process of the namespaces; $1 is the root.
become_system() {
  set -e
  mount --make-rprivate /
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount -t sysfs sysfs "$1/sys"
  mount -t cgroup2 cgroup2 "$1/sys/fs/cgroup"
  for place in run tmp dev; do mount -t tmpfs tmpfs "$1/$place"; done
  mkdir "$1/dev/pts" "$1/dev/shm"
  mknod -m 666 "$1/dev/null" c 1 3
  mknod -m 666 "$1/dev/zero" c 1 5
  mknod -m 666 "$1/dev/random" c 1 8
  mknod -m 666 "$1/dev/urandom" c 1 9
  mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
  ln -s pts/ptmx "$1/dev/ptmx"
  ip link set lo up
  cd "$1"
  mkdir -p old-root
  pivot_root . old-root
  umount -l /old-root
  exec env -i container=check-package PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=false
}

boot() {
  local hierarchy
  hierarchy=$(findmnt --noheadings --first-only --types cgroup2 --output TARGET)
  group=$hierarchy/check-package-$$
  mkdir "$group"
  (
    echo "$BASHPID" > "$group/cgroup.procs"
    exec unshare --mount --pid --fork --uts --ipc --net --cgroup \
      bash -c "$(declare -f become_system); become_system \"\$1\"" bash "$root"
  ) > "$directory/boot.log" 2>&1 < /dev/null &
  unshare=$!
  until_true 'the first process' pgrep --parent "$unshare"
  systemd=$(pgrep --parent "$unshare")
  until_true 'the system' test -S "/proc/$systemd/root/run/systemd/private"
  until_true 'the boot' shell_inside 'systemctl is-system-running | grep -E "running|degraded"'
}

# shellcheck disable=SC2317 # The trap calls it.
stop() {
  if [ -n "$systemd" ]; then kill -KILL "$systemd" 2> /dev/null || true; fi
  wait
  for _ in $(seq 50); do
    # The last processes leave their group after the first one has ended.
    if [ -z "$group" ] || ! [ -d "$group" ]; then break; fi
    find "$group" -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.1
  done
}

mkdir "$directory"
trap stop EXIT
