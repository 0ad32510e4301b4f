#!/bin/sh
# What packages' scripts ask before they start, stop or restart a service: 0 is yes,
# 101 no (https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt).
# Each file *.policy forbids something to a package, in the form of charm-helpers; what
# was forbidden is noted, for its charm to do later.
policies=@POLICIES@
deferred=@DEFERRED@

while :; do
	case $1 in
	--*) shift ;;
	*) break ;;
	esac
done
service=${1%.service}
forbidden=0
for action in $2; do
	for file in "$policies"/*.policy; do
		[ -f "$file" ] || continue
		requestor=$(awk -v service="$service" -v action="$action" '
			function bare(word) { gsub(/["\047,]/, "", word); return word }
			/^[a-z_]+:/ { section = $1 }
			$1 == "policy_requestor_name:" { name = bare($2) }
			$1 == "policy_requestor_type:" { type = bare($2) }
			section == "blocked_actions:" && /^ +[^ -].*:/ {
				key = $1
				sub(/:$/, "", key)
				key = bare(key)
				sub(/\.service$/, "", key)
				if (match($0, /\[.*\]/)) {
					n = split(substr($0, RSTART + 1, RLENGTH - 2), all, /, */)
					for (i = 1; i <= n; i++) if (key == service && bare(all[i]) == action) hit = 1
				}
			}
			section == "blocked_actions:" && $1 == "-" && key == service && bare($2) == action { hit = 1 }
			END { if (hit) print type, name }
		' "$file")
		[ -n "$requestor" ] || continue
		forbidden=101
		mkdir -p "$deferred"
		cat >"$deferred/${requestor%% *}-${requestor#* }-$(cat /proc/sys/kernel/random/uuid).deferred" <<-END
			action: $action
			policy_requestor_name: ${requestor#* }
			policy_requestor_type: ${requestor%% *}
			reason: Package update
			service: $1
			timestamp: $(date +%s)
		END
	done
done
exit $forbidden
