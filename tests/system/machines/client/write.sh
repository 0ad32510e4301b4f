#!/bin/sh
# write.sh DATABASE REMOTES-FILE TABLE ROW: inserts a numbered row into a table
# once a second, through the leader, and notes in REMOTES-FILE.acknowledged, by
# number and time in ms, which of them the database acknowledged. ROW is JSON, in
# which NUMBER is replaced. ovn-northd must ignore the table, so that rows cost
# no other program anything.
set -u
cd /srv/client || exit
n=0
while :; do
	n=$((n + 1))
	row=$(printf '%s' "$4" | sed "s/NUMBER/$n/")
	answer=$(ovsdb-client --timeout=15 --private-key=key.pem --certificate=cert.pem --ca-cert=ca.pem \
		transact "$(cat "$2")" "[\"$1\",{\"op\":\"insert\",\"table\":\"$3\",\"row\":$row}]" 2>>"$2.errors")
	case $answer in
	'[{"uuid":["uuid",'*'"]}]') echo "$n $(date +%s%3N)" >>"$2.acknowledged" ;;
	*) echo "$n $(date +%s%3N) $answer" >>"$2.failed" ;;
	esac
	sleep 1
done
