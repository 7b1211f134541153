#!/bin/bash
# Installs, upgrades under load, downgrades and purges the package on a fresh Debian with systemd, in namespaces of its own.
# Usage: check-package.sh DIRECTORY OLDER.deb NEWER.deb, where DIRECTORY is new. Needs root, mmdebstrap and cgroup2.
set -euo pipefail
for tool in mmdebstrap unshare nsenter findmnt dpkg-deb; do
  if ! command -v "$tool" > /dev/null; then
    echo "check-package: $tool is missing; install mmdebstrap, util-linux, mount and dpkg" >&2
    exit 1
  fi
done
directory=$(realpath -m "$1") older=$(realpath "$2") newer=$(realpath "$3")
root=$directory/root
group=
systemd=
config=/etc/platform/platform.toml

step() { printf '== %s\n' "$*"; }

fail() {
  printf 'check-package: %s\n' "$*" >&2
  inside journalctl --no-pager --unit platform --lines 30 >&2 || true
  exit 1
}

# Runs a command in the booted system.
inside() {
  nsenter --target "$systemd" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

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
  inside dpkg --force-downgrade -i /root/package.deb
}

build_root() {
  # Standard input hides the host name of the mirror from the guest.
  (cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2> /dev/null || true) |
    mmdebstrap --quiet --variant=minbase --mode=root --include=systemd,systemd-sysv,curl,adduser,libatomic1 bookworm "$root" -
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
  if [ -n "$group" ]; then find "$group" -depth -type d -exec rmdir {} + 2> /dev/null || true; fi
}

active_version() { shell_inside "curl -fsS http://127.0.0.1:9600/health | grep -F '\"version\":\"$1\"'"; }

version_of() { dpkg-deb --field "$1" Version | tr '~' '-'; }

# Creates orders until the file /root/stop exists, and notes the acknowledged ones.
# shellcheck disable=SC2016 # Expanded by the shell inside.
load='
number=0
while [ ! -e /root/stop ]; do
  number=$((number + 1))
  status=$(curl -s -o /dev/null -w "%{http_code}" -H "x-user-id: check" -H "x-user-roles: admin" -H "content-type: application/json" \
    -d "{\"order_id\":\"order-$number\",\"platform\":\"live\",\"amount_cents\":100}" http://127.0.0.1:9600/orders || true)
  if [ "$status" = 201 ]; then echo "order-$number" >> /root/acknowledged; else echo "$status" >> /root/refused; sleep 0.05; fi
done'

# shellcheck disable=SC2016 # Expanded by the shell inside.
verify_orders='
touch /root/refused
while read -r order; do
  curl -fsS -o /dev/null -H "x-user-id: check" -H "x-user-roles: admin" "http://127.0.0.1:9600/orders/$order" || echo "$order"
done < /root/acknowledged > /root/lost'

acknowledged() { wc -l < "$root/root/acknowledged"; }

more_than() { [ "$(acknowledged)" -gt "$1" ]; }

trap stop EXIT
mkdir "$directory"
step 'build a root file system'
build_root
boot

step 'install'
install_package "$older"
until_true 'the first answer' active_version "$(version_of "$older")"
shell_inside 'stat -c "%U:%G %a %n" /etc/platform /var/lib/platform' | diff - <(printf '%s\n' \
  'root:platform 750 /etc/platform' 'platform:platform 700 /var/lib/platform')
inside systemctl is-enabled --quiet platform
shell_inside 'journalctl --unit platform | grep -q "with the password"'
shell_inside '! command -v node'
inside platform help serve > /dev/null
shell_inside 'test -s /usr/share/bash-completion/completions/platform && zcat /usr/share/man/man1/platform.1.gz | grep -q "platform serve"'

step 'the commands of the guide'
shell_inside "platform config --config $config > /dev/null"
shell_inside "echo 'a long enough pass phrase' | runuser -u platform -- platform user passwd admin --config $config"
shell_inside "{ printf 'authorization: Bearer '; runuser -u platform -- platform token issue admin --config $config; } > /root/header"
shell_inside 'curl -fsS -H @/root/header http://127.0.0.1:9994/auth/me | grep -qF "\"admin\""'
shell_inside "runuser -u platform -- platform data backup --note 'before the upgrade' --config $config"
inside systemctl restart platform

step 'upgrade under load'
inside sed -i 's/^format = "json"/format = "pretty"/' "$config"
inside bash -c "$load" &
worker=$!
until_true 'orders before the upgrade' more_than 50
install_package "$newer"
until_true 'the newer release' active_version "$(version_of "$newer")"
until_true 'orders after the upgrade' more_than $(($(acknowledged) + 50))
touch "$root/root/stop"
wait "$worker"
shell_inside "$verify_orders"
[ ! -s "$root/root/lost" ] || fail "$(wc -l < "$root/root/lost") acknowledged orders are lost"
inside grep -q 'format = "pretty"' "$config" || fail 'the upgrade has replaced the configuration'
shell_inside "! runuser -u platform -- platform db status --config $config | grep pending" || fail 'a migration is pending'
printf '%s acknowledged orders, none lost; %s requests refused meanwhile\n' "$(acknowledged)" "$(wc -l < "$root/root/refused")"

step 'the watchdog restarts a process that hangs'
shell_inside 'mkdir -p /run/systemd/system/platform.service.d &&
  printf "[Service]\nWatchdogSec=6\n" > /run/systemd/system/platform.service.d/watchdog.conf &&
  systemctl daemon-reload && systemctl restart platform && systemctl kill --signal=STOP platform'
until_true 'a restart' shell_inside 'systemctl show platform -p NRestarts | grep -qx NRestarts=1 && systemctl is-active platform'
shell_inside 'journalctl --unit platform | grep -q "Watchdog timeout"'

step 'downgrade'
install_package "$older"
until_true 'the older release' active_version "$(version_of "$older")"
shell_inside "$verify_orders"
[ ! -s "$root/root/lost" ] || fail 'the downgrade has lost orders'

step 'one module in a process'
shell_inside 'systemctl disable --now --quiet platform && systemctl start platform@api platform@worker'
until_true 'the api alone' shell_inside 'curl -fsS http://127.0.0.1:9600/health | grep -F "\"modules\":[\"api\"]"'
install_package "$newer"
until_true 'the newer api' active_version "$(version_of "$newer")"
[ "$(inside systemctl is-active platform || true)" = inactive ] || fail 'the upgrade has started a disabled service'

step 'purge'
shell_inside 'touch /etc/platform/platform.env; chmod 600 /etc/platform/platform.env'
inside dpkg --purge backend-platform | tee "$directory/purge.log"
for left in /var/lib/platform /etc/platform 'the user platform'; do
  grep -qF "$left is left" "$directory/purge.log" || fail "purge does not say that $left is left"
done
shell_inside 'test -e /var/lib/platform/platform.db && test ! -e /etc/platform/platform.toml && test ! -e /usr/bin/platform'
[ -z "$(ps -o pid= -u "$(inside id -u platform)" || true)" ] || fail 'a process has outlived the package'
step 'done'
