package maintenance

import "time"

// Bounds of the pause between two questions for one proof, each of which makes ovn-northd compute everything again.
// The first is also the time that the command that began a drain has to prove it itself.
const (
	firstProofPause = 30 * time.Second
	lastProofPause  = 10 * time.Minute
	// ownProofPause is the first pause of the command itself.
	ownProofPause = time.Second
)

// proof proves a drain once nothing is left. A chassis that has claimed a gateway may not carry it yet: it must follow
// an nb_cfg that any client has raised after the ranks were written and the gateway was claimed. If ovn-northd and the
// chassis follow late, nb_cfg need not be raised again. proof needs every look at which nothing is left and no chassis
// that took a gateway lags, in order of time.
type proof struct {
	// own is set for the command of the drain: it does not wait for another process to ask.
	own    bool
	proved bool
	claims map[string]claim // those that there were at the first look, by their ports
	moved  bool
	askAt  time.Time
	pause  time.Duration
}

// claim is the chassis that has a gateway, and the last nb_cfg by which it may have been asked before it claimed it.
type claim struct {
	chassis string
	before  int64
}

// Claims are the chassis that have the gateways, by their ports; the nb_cfg of NB, which all are asked to follow; and
// that of SB, which ovn-northd has followed. NB was read first.
type Claims struct {
	Hosts           map[string]string
	Asked, Followed int64
}

// move begins again after gateways have moved: the proof so far does not hold for these.
func (f *proof) move() { *f = proof{own: f.own, moved: true, askAt: f.askAt, pause: f.pause} }

func (f *proof) begin(hosts map[string]string, seen int64, now time.Time) {
	f.claims = make(map[string]claim, len(hosts))
	for port, chassis := range hosts {
		f.claims[port] = claim{chassis, seen}
	}
	if begun := now.Add(firstProofPause); !f.moved && !f.own && f.askAt.Before(begun) {
		f.askAt = begun
	}
}

func (f *proof) look(s Claims, now time.Time) (ask bool) {
	if f.proved {
		return false
	}
	seen := max(s.Asked, s.Followed)
	if f.claims == nil {
		f.begin(s.Hosts, seen, now)
	}
	open, asked := false, true
	for port, c := range f.claims {
		chassis, there := s.Hosts[port]
		switch {
		case !there: // it was deleted, or the node is no candidate any more
			delete(f.claims, port)
		case chassis != c.chassis || s.Asked < c.before: // it has moved on; or an older database was restored
			f.claims[port] = claim{chassis, seen}
			open, asked = true, false
		case s.Followed <= c.before || s.Followed > s.Asked: // what is ahead was not asked for
			open, asked = true, asked && s.Asked > c.before
		}
	}
	switch {
	case !open:
		*f = proof{own: f.own, proved: true, askAt: f.askAt}
		return false
	case asked || now.Before(f.askAt):
		return false
	}
	first := firstProofPause
	if f.own {
		first = ownProofPause
	}
	f.pause = min(max(first, 2*f.pause), lastProofPause)
	f.askAt = now.Add(f.pause)
	return true
}
