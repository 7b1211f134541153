#!/bin/bash
# What an operator reads when the installed service cannot start; check-package.sh sources this file.
# shellcheck disable=SC2154 # The variables of clean-root.sh and check-package.sh.

# Makes a fault, and checks that the journal and the doctor name it and what to do; then mends it.
# Usage: fault NAME MAKE JOURNAL DOCTOR MEND; JOURNAL and DOCTOR are extended regular expressions.
fault() {
  local name=$1 make=$2 journal=$3 doctor=$4 mend=$5
  shell_inside "systemctl stop platform; $make"
  shell_inside 'journalctl --quiet --rotate && journalctl --quiet --vacuum-time=1s'
  if inside systemctl start platform 2> /dev/null; then fail "$name: the service starts"; fi
  shell_inside "journalctl --unit platform --output cat | grep -E '$journal'" || fail "$name: the journal has no line like $journal"
  shell_inside "{ platform doctor --config $config || true; } | grep -E '$doctor'" || fail "$name: the doctor says nothing like $doctor"
  shell_inside "systemctl stop platform; $mend; systemctl reset-failed platform"
}

# Runs a statement on the database of the stopped service.
change_database() {
  node --input-type=module --eval '
    import { DatabaseSync } from "node:sqlite"
    const database = new DatabaseSync(process.argv[1])
    database.exec(process.argv[2])
    database.close()' "$root/var/lib/platform/platform.db" "$1"
}

check_faults() {
  local data=/var/lib/platform
  local database=$data/platform.db
  inside systemctl stop platform
  inside cp --archive "$config" /root/platform.toml
  inside cp --archive "$data" /root/data

  fault 'a port in use' \
    'systemd-run --quiet --unit=other nats-server --addr 127.0.0.1 --port 9600
     until (exec 3<> /dev/tcp/127.0.0.1/9600) 2> /dev/null; do sleep 0.1; done' \
    'api\.listen: cannot listen on .*ss -ltnp.*or change api\.listen' 'ss -ltnp' 'systemctl stop other'
  fault 'a wrong owner' "chown root:root $database" "cannot write $database, .*chown -R" \
    "run as root: chown -R .* $data" "rm --force $database-*; chown platform:platform $database"
  fault 'a full disk' \
    "mount -t tmpfs -o size=3M,mode=700,uid=\$(id -u platform),gid=\$(id -g platform) tmpfs $data
     cp --archive /root/data/. $data/; dd if=/dev/zero of=$data/filler bs=4k 2> /dev/null || true" \
    "the disk of $data is full" 'Make room on it' "umount $data"
  fault 'a typing error' "sed -i 's/^listen/listn/' $config" 'api\.listn: expected a known key, did you mean api\.listen' \
    '/usr/share/doc/backend-platform/docs/reference/configuration.md' "cp --archive /root/platform.toml $config"
  fault 'an unreadable configuration' "chown root:root $config" 'chgrp [0-9]+ /etc/platform/platform\.toml' \
    "run: chgrp [0-9]+ $config" "chgrp platform $config"
  fault 'a lost database' "mkdir --parents $data/backups; echo 'A backup.' > $data/backups/kept.db
     mv $database /root/lost.db; rm --force $database-*" "There is no database in .*platform data restore $data/backups/kept\.db" \
    'is gone, or empty, but not .*backups' "rm $data/backups/kept.db; mv /root/lost.db $database"
  fault 'a lost key' "mv $data/jwt-secret /root/lost-key" 'the signing key .*jwt-secret is gone.*put your copy' \
    'jwt-secret is gone' "mv /root/lost-key $data/jwt-secret"
  fault 'an empty key' ": > $data/jwt-secret" 'to have another one generated' \
    'to have another one generated' "cp --archive /root/data/jwt-secret $data/"
  fault 'a damaged database' "echo 'This is no database.' > $database; rm --force $database-*" 'platform data restore .*/backups/.*\.db' \
    'platform data restore .*/backups/.*\.db' "cp --archive /root/data/platform.db $database"
  change_database "insert into schema_migrations values ('9999-newer', 1, 0)"
  fault 'a newer database' true 'newer release \(9999-newer\)' 'install that release' true
  change_database "delete from schema_migrations where name = '9999-newer'"
  # systemd tries again and again, with one copy of the database.
  change_database 'delete from schema_migrations where name = (select max(name) from schema_migrations)'
  fault 'a failing migration' true 'The migration .* has failed.*Install the former release' 'pending: ' \
    "test \$(ls $database.before-migration* | wc -l) = 1
     stat --format=%i $database.before-migration > /root/copy; systemctl start platform 2> /dev/null || true
     stat --format=%i $database.before-migration | cmp - /root/copy
     systemctl stop platform; rm --force $database.* $database-*; cp --archive /root/data/platform.db $database"
  inside systemctl start platform
}
