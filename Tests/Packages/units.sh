#!/bin/bash
# The agent's units under a systemd that has booted. Runs inside the root that Tools/test-packages has booted, as a service
# of its own; the last line says that all held.
set -eo pipefail
exec 2>&1

fail() {
  printf 'units: error: %s\n' "$1"
  journalctl --no-pager -o cat -u godwit-agent | tail -n 20
  exit 1
}
# soon COMMAND…: within 30 seconds.
soon() {
  for _ in $(seq 300); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "not in 30 s: $*"
}
server() { runuser -u godwit -- env -C /var/lib/godwit "$@"; }
value() { systemctl show --property "$1" --value godwit-agent; }
says() { server godwit agent status | grep -q -- "$1"; }

echo "== installed by dpkg, under systemd"
dpkg -i /packages/godwit_*.deb /packages/godwit-agent_*.deb >/dev/null
[ "$(stat -c %U:%a /var/lib/godwit)" = godwit:700 ] || fail "the service's folder is another one's"

echo "== a replica of the service's user, a remote in a folder, and a bucket whose keys come as a credential"
mkdir -p /srv/buckets/bucket /srv/stick /srv/other
chown godwit: /srv/stick /srv/other
systemd-run --quiet --unit store /rclone serve s3 --config /dev/null --auth-key OFTHECREDENTIAL,not-a-secret \
  --addr 127.0.0.1:9000 /srv/buckets
soon python3 -c 'import socket; socket.create_connection(("127.0.0.1", 9000))'
server godwit -C notes init --name server >/dev/null
server godwit -C notes remote add stick /srv/stick >/dev/null
server env AWS_ACCESS_KEY_ID=OFTHECREDENTIAL AWS_SECRET_ACCESS_KEY=not-a-secret \
  godwit -C notes remote add bucket 's3://bucket/notes?endpoint=http://127.0.0.1:9000' >/dev/null
mkdir /etc/godwit /etc/systemd/system/godwit-agent.service.d
printf '[default]\naws_access_key_id = OFTHECREDENTIAL\naws_secret_access_key = not-a-secret\n' >/etc/godwit/aws-credentials
chmod 600 /etc/godwit/aws-credentials
echo 'ARGS="/var/lib/godwit/notes --listen 9470 --every 2"' >/etc/default/godwit-agent
cat >/etc/systemd/system/godwit-agent.service.d/test.conf <<'UNIT'
[Service]
ReadWritePaths=/srv/stick
LoadCredential=aws:/etc/godwit/aws-credentials
Environment=AWS_SHARED_CREDENTIALS_FILE=%d/aws
WatchdogSec=5
RestartSec=1
UNIT
systemctl daemon-reload

echo "== it starts, is ready, syncs, and may do no more than it needs"
systemctl enable --quiet --now godwit-agent
[ "$(value StatusText)" = "1 replica" ] || fail "its status is $(value StatusText)"
soon says 'stick: synced'
soon says 'bucket: synced'
systemd-analyze security --no-pager --threshold=20 godwit-agent | tail -n 1
inside() { nsenter --target "$(value MainPID)" --mount -- runuser -u godwit -- "$@"; }
inside touch /srv/stick/new /var/lib/godwit/new
for place in /srv/other/new /etc/new /usr/new /home/new /root/new; do
  if inside touch "$place" 2>/dev/null; then fail "its service may write $place"; fi
done
[ "$(value NoNewPrivileges)" = yes ] || fail "it may gain privileges"
rm /srv/stick/new /var/lib/godwit/new
python3 -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:9470/metrics").read().decode())' \
  | grep '^godwit_replica_open.* 1$'

echo "== what another process writes goes out"
echo '{"text": "buy milk"}' | server godwit -C notes put todo --as 1
goes_out() { journalctl --no-pager -o cat -u godwit-agent | grep -q "remote=$1 message=.* 1 published"; }
soon goes_out stick
soon goes_out bucket

echo "== reload, a hang, a kill"
process=$(value MainPID)
systemctl reload godwit-agent
soon says 'stick: synced'
[ "$(value MainPID)" = "$process" ] || fail "a reload started it anew"
kill -STOP "$process"
restarted() { [ "$(value NRestarts)" -ge "$1" ] && [ "$(value ActiveState)" = active ]; }
soon restarted 1
journalctl --no-pager -u godwit-agent | grep 'Watchdog timeout' >/dev/null || fail "the watchdog did not start it anew"
kill -KILL "$(value MainPID)"
soon restarted 2
soon says 'stick: synced'

echo "== it stops in time, also while a remote hangs"
systemctl kill --signal STOP store
echo '{"text": "buy bread"}' | server godwit -C notes put todo --as 2
# Two seconds after what was written it asks the store, which says nothing.
sleep 4
SECONDS=0
systemctl stop godwit-agent
[ "$SECONDS" -lt 20 ] || fail "it stopped after $SECONDS s"
[ "$(value Result):$(value ExecMainStatus)" = success:0 ] || fail "it ended by $(value Result), $(value ExecMainStatus)"
systemctl kill --signal KILL store
server godwit -C notes verify >/dev/null || fail "the replica is damaged"

echo "== its journal has the events with their priorities, and nothing else"
journalctl --no-pager -o json -u godwit-agent >/journal
python3 - <<'PYTHON'
import json
lines = [json.loads(line) for line in open("/journal")]
own = [line for line in lines if line.get("SYSLOG_IDENTIFIER") == "godwit-agent"]
events = {}
for line in own:
    word = line["MESSAGE"].split()[0]
    assert word.startswith("event="), line["MESSAGE"]
    events.setdefault(word[6:], set()).add(line["PRIORITY"])
assert events["ready"] == events["synced"] == events["reloading"] == events["stopped"] == {"6"}, events
assert not any("not-a-secret" in line["MESSAGE"] for line in lines)
print(len(own), "lines:", ", ".join(sorted(events)))
PYTHON

echo "== the user's unit"
# Where the system runs in a container, this file is mounted over by one that is deleted, and nothing mounts over that again.
umount /proc/kmsg 2>/dev/null || true
useradd --create-home ada
loginctl enable-linger ada
ada() { runuser -u ada -- env -C /home/ada XDG_RUNTIME_DIR="/run/user/$(id -u ada)" "$@"; }
soon ada systemctl --user is-system-running --wait
ada mkdir remote
ada godwit init --name ada >/dev/null
ada godwit remote add stick remote >/dev/null
ada systemctl --user enable --quiet --now godwit-agent
synced() { ada godwit agent status | grep -q 'stick: synced'; }
soon synced
ada systemctl --user reload godwit-agent
soon synced
ada systemctl --user stop godwit-agent
[ "$(ada systemctl --user show --property Result --value godwit-agent)" = success ] || fail "the user's agent failed"

echo "== removed"
dpkg -r godwit-agent >/dev/null
id godwit >/dev/null
[ -d /var/lib/godwit/notes ] || fail "the replica went with the package"
link=/etc/systemd/system/multi-user.target.wants/godwit-agent.service
[ -L "$link" ] || fail "the unit was not enabled"
dpkg -P godwit-agent >/dev/null
[ ! -L "$link" ] || fail "a package that comes back would begin by itself"
[ -d /var/lib/godwit/notes ] || fail "the replica was purged with the package"
echo "the units passed"
