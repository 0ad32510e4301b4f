package remedies

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// braced matches the arguments in a line of the catalogue.
var braced = regexp.MustCompile(`\\\{\w+\\\}`)

// refused types a command that the charm refuses with the code, and returns the commands that it prints, the first
// remedy first. A condition comes before its command.
func (w *world) refused(code finding.Code, line string) (next []string) {
	w.T.Helper()
	r := w.Type(line)
	require.Equal(w.T, "failed", r.Status, "%s\n%v", line, r.Results)
	said := r.Message
	for _, text := range r.Results {
		said += "\n" + text
	}
	sentence := braced.ReplaceAllString(regexp.QuoteMeta(finding.Lookup(code).Line), ".*")
	require.Regexp(w.T, sentence, said, line)
	for _, way := range strings.Split(said, "\n") {
		way = strings.TrimSpace(way)
		at := strings.Index(way, "juju ")
		if at < 0 || at > 0 && !strings.HasPrefix(way, "next: ") {
			continue
		}
		for _, part := range strings.Split(way[at:], "; ") {
			if strings.HasPrefix(part, "juju ") { // a deed comes last
				next = append(next, part)
			}
		}
	}
	require.NotEmpty(w.T, next, "%s: no command is printed:\n%s", code, said)
	return next
}

func (w *world) kick(what ...string) string {
	return "juju run " + w.on.Name() + " kick " + strings.Join(append(what, "i-really-mean-it=true"), " ")
}

// pick returns a unit that leads nothing and is not the given one.
func (w *world) pick(not ...*lab.Unit) *lab.Unit {
	w.T.Helper()
	w.on = w.MakeOneLeader()
	for _, u := range w.Followers() {
		if !slices.Contains(not, u) {
			return u
		}
	}
	require.FailNow(w.T, "no follower is left")
	return nil
}

// gone requires that units have left the model and the clusters, and that n members remain.
func (w *world) gone(n int, units ...*lab.Unit) {
	w.T.Helper()
	for _, u := range units {
		require.True(w.T, u.Removed(), u.Name())
	}
	require.Len(w.T, w.Remaining(), n)
	members(n)(w)
}

// R4: an action that names nothing, or the wrong thing, prints the command that shows the right names.
func TestRefusals_wrong_names_print_what_to_look_at(t *testing.T) {
	w := &world{Model: labtest.Deploy(t, 3)}
	w.on = w.MakeOneLeader()
	on := "juju run " + w.on.Name() + " "
	for _, c := range []struct {
		code        finding.Code
		line, typed string
	}{
		{finding.MemberIDInvalid, w.kick("nb-identity=aa0"), on + "cluster-status"},
		{finding.UnknownMember, w.kick("nb-identity=00000000-0000-4000-8000-000000000000"), on + "cluster-status"},
		{finding.UnitUnknown, w.kick("unit=ovn-central/77"), on + "cluster-status"},
	} {
		next := w.refused(c.code, c.line)
		assert.Equal(t, c.typed, next[0])
		w.follow(next[0])
	}
	w.follow(on + "backup --wait=30m")
	for _, line := range w.refused(finding.ParameterInvalid, on+"restore from=/nothing dry-run=true") {
		assert.Equal(t, "completed", w.Type(line).Status, line)
	}
}

// R1, R4: each refused kick, stop or removal prints a command that is not refused, and that ends the problem.
func TestRefusals_printed_commands_succeed(t *testing.T) {
	w := &world{Model: labtest.Deploy(t, 3)}

	// The unit of a live member leaves by itself.
	first := w.pick()
	w.follow(w.refused(finding.UnitInModel, w.kick("unit="+first.Name()))[0])
	w.gone(2, first)

	// None of two members may go down, so a third one comes.
	second := w.pick()
	stop := "juju run " + w.on.Name() + " ok-to-stop unit=" + second.Name()
	w.follow(w.refused(finding.StopUnsafe, stop)[0])
	w.gone(3)
	assert.Equal(t, "completed", w.Type(stop).Status)

	// One of three is lost: another one can't be kicked, until the lost one is replaced.
	lost := w.pick()
	w.PowerOff(lost)
	w.RequireDown(lost)
	third := w.pick(lost)
	remove := "juju run " + w.on.Name() + " ok-to-remove unit=" + lost.Name()
	forced := w.refused(finding.RemovalUnsafe, remove)
	kicked := w.refused(finding.QuorumWouldBeLost, w.kick("unit="+third.Name(), "force=true"))
	assert.Equal(t, []string{"juju remove-unit --force " + lost.Name(), "juju add-unit ovn-central"}, forced)
	assert.Equal(t, forced, kicked[:2])
	for _, line := range kicked[:2] {
		w.follow(line)
	}

	// The kick that the status prints needs a confirmation.
	w.on = w.Leader()
	asked, _, _ := strings.Cut(w.appears(finding.StaleMember).Remedies[0].Commands[0], " i-really-mean-it=true")
	for _, line := range w.refused(finding.Unconfirmed, asked) {
		w.follow(line)
	}
	w.gone(3, lost)

	// A kick that permits a unit in the model permits no live member.
	alive := w.pick()
	w.follow(w.refused(finding.MemberIsLive, w.kick("unit="+alive.Name(), "unit-in-model=true"))[0])
	w.gone(2, alive)

	// A unit can't kick itself.
	w.on = w.MakeOneLeader()
	own := w.on
	removal := w.refused(finding.OwnMember, w.kick("unit="+own.Name()))[0]
	w.on = labtest.Without(w.Remaining(), own)[0]
	w.follow(removal)
	w.gone(1, own)

	// The only member can't be kicked; a new unit joins first.
	w.follow(w.refused(finding.SoleMember, w.kick("nb-identity="+w.ShortID(w.on, lab.NB)))[0])
	w.gone(2)
}

// R21, R4: a recovery that names no lost unit prints the one that does, and so on to the end. What it prints at the end
// brings the application back to its size. Typed once more, the recovery changes nothing.
func TestRefusals_recovery_is_completed_as_printed(t *testing.T) {
	w := &world{Model: labtest.Deploy(t, 3)}
	w.on = w.MakeOneLeader()
	lost := labtest.Without(w.Deployed, w.on)
	w.Lose(lost...)
	unnamed := "juju run " + w.on.Name() + " recover i-really-mean-it=true --wait=30m"
	w.follow(w.refused(finding.RecoveryNotReported, unnamed)[0])
	require.Contains(t, w.next, "juju remove-unit --force ", "RECOVERY_PROVED")
	for _, line := range strings.Split(w.next, "\n") {
		if at := strings.Index(line, "juju "); at >= 0 {
			w.follow(line[at:])
		}
	}
	w.on = w.Leader()
	w.gone(3, lost...)
	cluster := w.ClusterID(w.on, lab.NB)
	w.follow(unnamed) // RECOVERY_DONE
	assert.Equal(t, cluster, w.ClusterID(w.on, lab.NB))
	members(3)(w)
}
