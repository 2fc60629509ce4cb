#!/bin/sh
# Replaces schemas by those of a dump: restore-schemas.sh <dump> <service>…  All of them or, if anything fails, none.
# The processes of the services must not run. The server is in PGHOST, PGUSER, PGPASSWORD and PGDATABASE.
set -eu
[ -z "${PGPASSWORD_FILE:-}" ] || export PGPASSWORD="$(cat "$PGPASSWORD_FILE")"
dump=$1
shift

# Ends before the commit if a command fails.
write_sql () {
  # Without a line for each table that it drops.
  echo 'begin; set local client_min_messages = warning;'
  for service in "$@"; do
    echo "drop schema if exists \"$service\" cascade; create schema \"$service\" authorization \"tandem_$service\";"
  done
  for service in "$@"; do pg_restore --schema="$service" --file=- "$dump" || return 1; done
  for service in "$@"; do
    # Ahead of all numbers of events that consumers have seen.
    echo "select setval('\"$service\".outbox_seq_seq', (extract(epoch from now()) * 1000000)::bigint);"
    # Numbers of realtime frames may be used again, so clients load their lists instead of resuming.
    [ "$service" != notification ] || echo "update notification.inboxes set realtime_epoch = null;"
  done
  echo 'commit;'
  printf '%s\n' '\echo committed'
}

result=$(write_sql "$@" | psql --no-psqlrc --quiet --output=/dev/null --set=ON_ERROR_STOP=1 --file=-)
[ "$result" = committed ] || { echo "nothing was restored" >&2; exit 1; }
echo "restored $*"
