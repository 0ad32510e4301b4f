#!/bin/bash
# install.sh DEB DIR: installs a package with this machine's apt, looks at it as its users do,
# and purges it. Runs in a mount namespace of its own: the machine is the lower layer of
# what is changed, DIR/changed has the changes.
set -euo pipefail
deb=$1 dir=$2

mount -t tmpfs tmpfs "$dir"
mkdir "$dir/changed" "$dir/work" "$dir/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/changed,workdir=$dir/work" "$dir/root"
mount --rbind /proc "$dir/root/proc"
mount --rbind /dev "$dir/root/dev"
mkdir -p "$dir/root/run/ovn-gateways-deb"
cp "$deb" "$dir/root/run/ovn-gateways-deb/ovn-gateways.deb"

part() { echo "== $1"; }
# At a width of its own man keeps no formatted page.
in_root() { chroot "$dir/root" env -u MANPATH MANWIDTH=100 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
# Images of containers leave manual pages out.
apt() { in_root apt-get -q -y -o Dpkg::Options::='--path-include=/usr/share/*' "$@"; }

part install
apt install --no-install-recommends /run/ovn-gateways-deb/ovn-gateways.deb
part state
in_root dpkg-query -W -f '${db:Status-Abbrev}${Version}\n' ovn-gateways
part verify
in_root dpkg --verify ovn-gateways
part version
in_root ovn-gateways version
part man
in_root man --pager=cat ovn-gateways-plan
part 'man of all'
in_root man --pager=cat ovn-gateways
part warnings
in_root man --warnings --pager=cat ovn-gateways 2>&1 >/dev/null
part whatis
in_root mandb -q
in_root whatis ovn-gateways-rebalance
part complete
in_root bash --norc -c '
	. /usr/share/bash-completion/bash_completion
	_completion_loader ovn-gateways || true
	complete -p ovn-gateways
	COMP_LINE="ovn-gateways plan reb" COMP_POINT=21 COMP_WORDS=(ovn-gateways plan reb) COMP_CWORD=2
	__start_ovn-gateways ovn-gateways reb plan
	printf "offers: %s\n" "${COMPREPLY[@]}"
'
part purge
apt purge ovn-gateways
part left
(cd "$dir/changed" && find . -name '*ovn-gateways*' ! -type c ! -path './run/*')
in_root sh -c 'dpkg-query -W ovn-gateways 2>/dev/null || true; command -v ovn-gateways || true; grep -l ovn-gateways /var/lib/dpkg/status || true'
