#!/bin/bash
# Installs the package on a fresh Debian with systemd, follows the README, upgrades under load, downgrades and purges.
# Usage: check-package.sh DIRECTORY OLDER.deb NEWER.deb, where DIRECTORY is new. Needs root, mmdebstrap and cgroup2.
set -euo pipefail
directory=$(realpath -m "$1") older=$(realpath "$2") newer=$(realpath "$3")
config=/etc/platform/platform.toml
checkout=$(realpath "$(dirname "$0")/../..")
# shellcheck source=test/package/clean-root.sh
. "$(dirname "$0")/clean-root.sh"
# shellcheck source=test/package/faults.sh
. "$(dirname "$0")/faults.sh"

active_version() { shell_inside "curl -fsS http://127.0.0.1:9600/health | grep -F '\"version\":\"$1\"'"; }

# As the program says it: without the commit of a package between two releases.
version_of() { dpkg-deb --field "$1" Version | sed 's/+git.*//' | tr '~' '-'; }

# Whether a package is of this checkout, whose documents it must match.
is_own() { grep -qF "\"version\": \"$(version_of "$1")\"" "$checkout/package.json"; }

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

# The n-th block of commands of a section of a guide.
shown_block() {
  awk -v section="## $2" -v wanted="$3" '/^## / { here = $0 == section } !here { next }
    /^```/ { isShown = !isShown; if (isShown) number++; next } isShown && number == wanted' "$checkout/docs/guide/$1.md"
}

# Types what the guide shows, on this server and then on one without its data.
move_to_new_server() {
  local order='{"order_id":"moved","platform":"live","amount_cents":100}'
  shell_inside "curl -fsS -o /dev/null -H @/root/header -H 'content-type: application/json' -d '$order' http://127.0.0.1:9600/orders"
  shell_inside "$(shown_block data-backups 'Moving to a new server' 1)"
  shell_inside "find /var/lib/platform -mindepth 1 -delete && rm $config"
  # The bus of this server is away, so the last line, `platform doctor`, ends with 1.
  shell_inside "$(shown_block data-backups 'Moving to a new server' 2 | sed 's/^platform doctor .*/{ & || true; }/')"
  until_true 'the moved platform' shell_inside 'curl -fsS -H @/root/header http://127.0.0.1:9600/orders/moved'
  shell_inside "runuser -u platform -- platform audit verify --config $config"
}

acknowledged() { wc -l < "$root/root/acknowledged"; }

more_than() { [ "$(acknowledged)" -gt "$1" ]; }

step 'build a root file system'
build_root
boot

step 'install'
install_package "$older"
until_true 'the first answer' active_version "$(version_of "$older")"
shell_inside 'stat -c "%U:%G %a %n" /etc/platform /var/lib/platform' | diff - <(printf '%s\n' \
  'root:platform 750 /etc/platform' 'platform:platform 700 /var/lib/platform')
inside systemctl is-enabled --quiet platform
shell_inside 'journalctl --unit platform | grep "with the password" > /dev/null'
shell_inside '! command -v node'
inside platform help serve > /dev/null
shell_inside 'test -s /usr/share/bash-completion/completions/platform && zcat /usr/share/man/man1/platform.1.gz | grep "platform serve" > /dev/null'

if is_own "$older"; then
  shell_inside 'stat -c "%U:%G %a" /etc/platform/platform.toml' | diff - <(echo 'root:platform 640')
  step 'the tour of the README'
  node "$checkout/test/package/follow-tour.ts" "$systemd"
fi

step 'the commands of the guide'
shell_inside "platform config --config $config > /dev/null"
shell_inside "echo 'a long enough pass phrase' | runuser -u platform -- platform user passwd admin --config $config"
shell_inside "{ printf 'authorization: Bearer '; runuser -u platform -- platform token issue admin --config $config; } > /root/header"
shell_inside 'curl -fsS -H @/root/header http://127.0.0.1:9994/auth/me | grep -qF "\"admin\""'
shell_inside "runuser -u platform -- platform data backup --note 'before the upgrade' --config $config"
inside systemctl restart platform

if is_own "$older"; then
  step 'commands with the settings of the units'
  shell_inside "echo LOG_LEVEL=debug > /etc/platform/platform.env && chmod 600 /etc/platform/platform.env"
  shell_inside "$(grep '^(set -a' "$checkout/docs/guide/installing.md") | grep ^admin"
  shell_inside "{ platform doctor --config $config || true; } | grep -F '(set -a; . /etc/platform/platform.env; platform doctor'"
  inside rm /etc/platform/platform.env

  step 'faults'
  check_faults

  step 'moving to a new server'
  move_to_new_server
fi

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
shell_inside 'journalctl --unit platform | grep "Watchdog timeout" > /dev/null'

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
# Of the system inside: on the host the same number may be another user.
[ -z "$(inside find /proc -maxdepth 1 -name '[0-9]*' -user platform)" ] || fail 'a process has outlived the package'
step 'done'
