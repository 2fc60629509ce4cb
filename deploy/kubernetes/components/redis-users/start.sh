#!/bin/sh
# Starts Redis in a container with the users of users.acl. Their passwords come from the environment and go into a file in memory: what is
# on a command line, everybody on the machine can read.
set -eu
umask 077
eval "cat <<END
$(sed '/^#/d' /etc/redis/users.acl)
END
" > /tmp/users.acl
exec redis-server --bind 0.0.0.0 --dir /data --aclfile /tmp/users.acl --appendonly yes --appendfsync everysec --maxmemory-policy noeviction
