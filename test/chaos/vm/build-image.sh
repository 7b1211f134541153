#!/bin/bash
# Builds a Debian guest with systemd for QEMU: root.img, vmlinux and initrd in a directory.
# Usage: build-image.sh DIRECTORY NODE, where NODE is the executable of Node.js for the guest. Needs root.
set -euo pipefail
directory=$(realpath -m "$1") node=$(realpath "$2")
packages=systemd,systemd-sysv,dbus,udev,kmod,iproute2,tzdata,libstdc++6,libatomic1,qemu-guest-agent
root=$directory/root
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"

# Standard input hides the host name of the mirror from the guest.
(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true) |
  mmdebstrap --quiet --variant=apt --mode=root --include=$packages \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    bookworm "$root" -

kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
mkdir packages kernel
(cd packages && apt-get download -qq "$kernel" busybox-static)
for package in packages/*.deb; do dpkg-deb -x "$package" kernel; done
version=$(ls kernel/lib/modules)
cp -a kernel/lib/modules "$root/usr/lib/"
chroot "$root" depmod "$version"
install -m755 "$node" "$root/usr/local/bin/node"

# QEMU starts an uncompressed kernel sooner; the offsets are those of the boot protocol of Linux.
image=kernel/boot/vmlinuz-$version
number() { od -An -tu"$3" -j"$2" -N"$3" "$1" | tr -d ' '; }
offset=$((($(number "$image" 497 1) + 1) * 512 + $(number "$image" 584 4)))
length=$(($(number "$image" 588 4) - 4))
head -c $((offset + length)) "$image" | tail -c "$length" | lz4 -dcq > vmlinux

mkdir -p initrd.d/{bin,dev,root}
cp kernel/bin/busybox initrd.d/bin/
modules=$(for name in virtio_pci virtio_blk; do
  chroot "$root" modprobe -S "$version" --show-depends "$name" | awk '/^insmod/ { print $2 }'
done | awk '!seen[$0]++')
{
  echo '#!/bin/busybox sh'
  echo '/bin/busybox mount -t devtmpfs dev /dev'
  for module in $modules; do
    cp "$root$module" initrd.d/
    echo "/bin/busybox insmod /$(basename "$module")"
  done
  echo 'while [ ! -b /dev/vda ]; do /bin/busybox sleep 0.1; done'
  echo '/bin/busybox mount -t ext4 -o rw,noatime /dev/vda /root'
  echo 'exec /bin/busybox switch_root /root /sbin/init'
} > initrd.d/init
chmod 755 initrd.d/init
(cd initrd.d && find . | cpio --quiet -oH newc) > initrd

# An empty machine id makes the first boot slow.
echo 0123456789abcdef0123456789abcdef > "$root/etc/machine-id"
echo night > "$root/etc/hostname"
cat > "$root/etc/fstab" <<'FSTAB'
/dev/vda / ext4 rw,noatime 0 1
/dev/vdb /opt/release ext4 ro 0 0
FSTAB
mkdir -p "$root/opt/release"
units=$root/etc/systemd/system
cat > "$units/guest-network.service" <<'UNIT'
[Unit]
DefaultDependencies=no
Before=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/modprobe virtio_net
ExecStart=/bin/ip addr add 10.0.2.15/24 dev eth0
ExecStart=/bin/ip link set eth0 up
ExecStart=/bin/ip route add default via 10.0.2.2
[Install]
WantedBy=network-online.target sysinit.target
UNIT
cat > "$units/guest-ready.service" <<'UNIT'
[Unit]
After=network-online.target qemu-guest-agent.service
Wants=network-online.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo "GUEST-READY $(cat /proc/sys/kernel/random/boot_id)" > /dev/console'
[Install]
WantedBy=multi-user.target
UNIT
chroot "$root" systemctl --quiet enable guest-network guest-ready qemu-guest-agent
chroot "$root" systemctl --quiet mask systemd-timesyncd apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
  e2scrub_all.timer fstrim.timer getty@tty1 serial-getty@ttyS0 systemd-networkd systemd-network-generator \
  systemd-pstore systemd-binfmt systemd-firstboot systemd-sysusers systemd-random-seed systemd-modules-load \
  systemd-update-utmp systemd-update-utmp-runlevel kmod-static-nodes modprobe@drm modprobe@efi_pstore modprobe@fuse \
  modprobe@loop modprobe@dm_mod modprobe@configfs dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount \
  sys-kernel-tracing.mount

truncate -s 2G root.img
mkfs.ext4 -q -F -m 0 -E lazy_itable_init=1 -d "$root" root.img
rm -rf "$root" packages kernel initrd.d
