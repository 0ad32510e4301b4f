package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func shownBy(term, end, notCommitted uint64, servers ...string) Status {
	s := Status{State: ClusterMember, Role: Follower, Leader: "aaaa", Term: term, Log: Log{1, end}, NotCommitted: notCommitted}
	for _, short := range servers {
		s.Servers = append(s.Servers, Member{Short: short, Address: "tcp:" + short})
	}
	return s
}

// R6: the rows of a status are those of its newest entry, committed or not.
func TestConfigurationWatcher(t *testing.T) {
	leaderless := shownBy(1, 10, 0, "aaaa", "bbbb")
	leaderless.Leader = UnknownRef
	cut := shownBy(1, 10, 0, "aaaa", "bbbb")
	cut.State = Disconnected
	removing := shownBy(1, 10, 0, "aaaa", "bbbb")
	removing.Removing = []Pending{{Short: "cccc"}}
	tests := map[string]struct {
		seen   []Status
		proved bool
	}{
		"all is committed":                {[]Status{shownBy(1, 10, 0, "aaaa", "bbbb")}, true},
		"the newest entry is not":         {[]Status{shownBy(1, 10, 1, "aaaa", "bbbb")}, false},
		"it is later":                     {[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(1, 10, 0, "aaaa", "bbbb")}, true},
		"others are on their way by then": {[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(1, 14, 3, "aaaa", "bbbb")}, true},
		"no leader":                       {[]Status{leaderless, leaderless}, false},
		"cut off":                         {[]Status{cut, cut}, false},
		"removal_in_progress":             {[]Status{removing}, false},
		"it is undone":                    {[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(2, 10, 0, "aaaa", "bbbb", "cccc")}, false},
		"new_term_restarts":               {[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(2, 12, 2, "aaaa", "bbbb")}, false},
	}
	for name, test := range tests {
		var p ConfigurationWatcher
		proved := false
		for _, s := range test.seen {
			proved = p.Observe(s)
		}
		assert.Equal(t, test.proved, proved, name)
	}
}
