package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
)

// peers asks the other agents.
type peers struct {
	client *http.Client
	scheme string
	now    func() time.Duration
	beat   func() time.Duration
	// configured returns the other agents' addresses; own is this agent's.
	configured func() []string
	own        string
	// answered takes an agent's answer, and the time of the question.
	answered func(answer lease.Answer, asked time.Duration)

	mu  sync.Mutex
	all map[string]*peer // by address
}

// peer is the last result of asking one agent.
type peer struct {
	asking   bool
	answered time.Duration // start of the last question that was answered; 0: never
	unit     string
	ahead    time.Duration // by how much its clock was ahead when it last answered
	err      error
}

// leasePath is the path at which one agent asks another.
const leasePath = "/lease"

// Limits for other agents' answers.
const (
	maxAnswer = 4 << 10 // bytes
	maxPeers  = 32
)

// ask asks all agents at each beat. It never asks an agent twice at the same time.
func (p *peers) ask(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer p.client.CloseIdleConnections()
	for period := time.Duration(0); after(ctx, period); period = p.beat() {
		for _, address := range p.addresses() {
			p.mu.Lock()
			one := p.all[address]
			if one == nil {
				one = new(peer)
				p.all[address] = one
			}
			busy := one.asking
			one.asking = true
			p.mu.Unlock()
			if !busy {
				wg.Go(func() { p.askOne(ctx, address, one) })
			}
		}
	}
}

// addresses returns the addresses in the configuration. The record's address is not asked: any client of the database
// can write it, and this unit would present its certificate there.
func (p *peers) addresses() []string {
	all := slices.Clone(p.configured())
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == p.own })
	p.mu.Lock()
	defer p.mu.Unlock()
	for known := range p.all {
		if !slices.Contains(all, known) && !p.all[known].asking {
			delete(p.all, known)
		}
	}
	return all[:min(len(all), maxPeers)]
}

func (p *peers) askOne(ctx context.Context, address string, one *peer) {
	asked := p.now()
	answer, ahead, err := p.question(ctx, address)
	p.mu.Lock()
	one.asking, one.err = false, err
	if err == nil {
		one.answered, one.unit, one.ahead = asked, answer.Unit, ahead
	}
	p.mu.Unlock()
	if err == nil {
		p.answered(answer, asked)
	}
}

// question asks one agent, and reads its clock: net/http puts the time, in whole seconds, into each answer.
func (p *peers) question(ctx context.Context, address string) (a lease.Answer, ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.beat())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.scheme+"://"+address+leasePath, http.NoBody)
	if err != nil {
		return a, 0, err
	}
	asked := wall()
	response, err := p.client.Do(r)
	if err != nil {
		return a, 0, err
	}
	answered := wall()
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return a, 0, err
	}
	if response.StatusCode != http.StatusOK {
		return a, 0, fmt.Errorf("%s answers %s", address, foreign.Name(response.Status))
	}
	if named, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		ahead = report.ClockAhead(named, asked, answered)
	}
	if err = json.Unmarshal(body, &a); err == nil && !lease.IsName(a.Unit) {
		err = fmt.Errorf("%s names itself %.60q", address, a.Unit)
	}
	a.Unit, a.Instance = foreign.Name(a.Unit), foreign.Name(a.Instance)
	return a, ahead, err
}

func (p *peers) status(now time.Duration) []report.PeerStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := []report.PeerStatus{}
	for _, address := range slices.Sorted(maps.Keys(p.all)) {
		one := p.all[address]
		s := report.PeerStatus{Address: address, Unit: one.unit, AnsweredSecondsAgo: -1}
		if one.answered != 0 {
			s.AnsweredSecondsAgo, s.ClockAheadSeconds = (now - one.answered).Seconds(), one.ahead.Seconds()
		}
		if one.err != nil {
			s.Error = one.err.Error()
		}
		all = append(all, s)
	}
	return all
}
