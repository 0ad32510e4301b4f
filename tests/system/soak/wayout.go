package soak

import (
	"regexp"
	"slices"
	"strings"
)

// way is what a recovery that was refused, or that waits, says to do.
type way struct {
	do string
	// name is a unit, the digits of a member, or an address.
	name string
}

// The ways. Each is read from what the action prints, as an operator reads it
// (docs/how-to/recover-quorum.md, the table in Recover).
const (
	hasQuorum  = "there is a quorum: nothing is lost"
	runThere   = "run it there"
	runOther   = "run it on another unit"
	start      = "start that unit, or give it up"
	giveUp     = "power off that machine, and give it up"
	force      = "power off that machine if it is lost, and add force=true"
	notAName   = "that name is none"
	stopServer = "stop the server at"
	kickLost   = "kick that unit if it is lost"
	again      = "run the same command again"
)

// wayouts are the texts by which a way is known; what is in parentheses is the name.
var wayouts = []struct {
	text *regexp.Regexp
	do   string
}{
	{regexp.MustCompile(`(ovn-central/\d+) has (?:newer data|a leader: ).*add force=true`), force},
	{regexp.MustCompile(`the cluster has a quorum|knows a leader|has a leader: the quorum is not lost|no quorum is lost`), hasQuorum},
	{regexp.MustCompile(`(ovn-central/\d+) has newer data`), runThere},
	{regexp.MustCompile(`recovery or restore on (ovn-central/\d+) (?:gives this unit up, and )?goes first`), runThere},
	{regexp.MustCompile(`(ovn-central/\d+.*) ha(?:s|ve) not reported how far`), start},
	{regexp.MustCompile(`(ovn-central/\d+) must stop its server`), start},
	{regexp.MustCompile(`(?:start the machine of|waiting for) (ovn-central/\d+)(?: to answer)? \(it has the new cluster`), start},
	{regexp.MustCompile(`((?:[0-9a-f]{4} |member |ovn-central/).*) may come back`), giveUp},
	{regexp.MustCompile(`the file of (ovn-central/\d+) is damaged`), giveUp},
	{regexp.MustCompile(`this unit's file is damaged|this unit has no copy`), runOther},
	{regexp.MustCompile(`(\S+) is neither a unit nor an identity of a member`), notAName},
	{regexp.MustCompile(`stop the old cluster \(it is served at ([^\s;]+);`), stopServer},
	{regexp.MustCompile(`if (ovn-central/\d+) is lost for good: juju run`), kickLost},
	{regexp.MustCompile(`(ovn-central/\d+) is not a member yet.*if it is lost: juju remove-unit`), start},
	{regexp.MustCompile(`add again=true|then run: .* recovery-status|run the same command again|to go on with it, run|the unit that leads the application publishes its ID|it continues|it makes the new cluster`), again},
}

// listed are the units and members in a list; of a member that a unit had, its digits.
var listed = regexp.MustCompile(`([0-9a-f]{4}) \(was ovn-central/\d+\)|member ([0-9a-f]{4}),|(ovn-central/\d+)`)

// names are those of a list; what is none is one name.
func names(text string) (all []string) {
	for _, found := range listed.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Join(found[1:], ""))
	}
	if all == nil {
		return []string{text}
	}
	return all
}

// waysOut are what a text says to do, each once, in its order.
func waysOut(text string) (all []way) {
	for line := range strings.Lines(text) {
		for _, w := range wayouts {
			found := w.text.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			for _, name := range names(strings.Join(found[1:], "")) {
				if out := (way{w.do, name}); !slices.Contains(all, out) {
					all = append(all, out)
				}
			}
			break
		}
	}
	return all
}
