#!/bin/sh
# Starts Redis in a container with the users of users.acl. Their passwords come from the environment, or from files of
# their names. They are written to a file in memory, because every user of the machine can read a command line.
set -eu
umask 077
for file in /run/secrets/REDIS_*_PASSWORD; do [ ! -e "$file" ] || export "${file##*/}=$(cat "$file")"; done
eval "cat <<END
$(sed '/^#/d' /etc/redis/users.acl)
END
" > /tmp/users.acl
# By it, deploy/docker/roll-out.sh knows whether the running server was started as a release starts it.
cat /etc/redis/start.sh /etc/redis/users.acl > /tmp/users.acl.source
# Its containers have 512 MiB. Without a limit below it, the kernel kills a full Redis, also while it starts again.
exec redis-server --bind 0.0.0.0 --dir /data --aclfile /tmp/users.acl \
  --appendonly yes --appendfsync everysec --maxmemory 384mb --maxmemory-policy noeviction
