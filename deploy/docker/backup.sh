#!/bin/sh
# Dumps all schemas into /backups every BACKUP_INTERVAL_HOURS, deletes dumps that are older than BACKUP_RETENTION_DAYS,
# and writes when the last one succeeded for node_exporter. `backup.sh once` dumps once. The server is in PGHOST …
set -eu
folder=${BACKUP_DIR:-/backups}
mkdir -p "$folder/metrics"

write_metric () {
  echo "tandem_backup_last_success_timestamp_seconds $1" > "$folder/metrics/backup.part"
  mv "$folder/metrics/backup.part" "$folder/metrics/backup.prom"
}
# So that the alert also fires if no dump ever succeeds.
[ -e "$folder/metrics/backup.prom" ] || write_metric 0

dump () {
  # Each time: a password that is changed needs no restart.
  [ -z "${PGPASSWORD_FILE:-}" ] || export PGPASSWORD="$(cat "$PGPASSWORD_FILE")"
  file=$folder/tandem-$(date -u +%Y%m%dT%H%M%SZ).dump
  # One dump of all schemas is one moment of all services.
  # Only its owner reads it: node_exporter reads the metric beside it.
  if (umask 077 && pg_dump --format=custom --file="$file.part") && mv "$file.part" "$file"; then
    # With the parts of dumps during which the container was stopped.
    find "$folder" -maxdepth 1 -name 'tandem-*.dump*' -mtime "+${BACKUP_RETENTION_DAYS:-14}" -delete
    write_metric "$(date +%s)"
    echo "wrote $file"
  else
    rm -f "$file.part"
    echo "the backup failed; the alert BackupOld fires a day after the last one" >&2
    return 1
  fi
}

[ "${1:-}" != once ] || { dump; exit; }
while :; do
  dump || true
  sleep "$((${BACKUP_INTERVAL_HOURS:-24} * 3600))"
done
