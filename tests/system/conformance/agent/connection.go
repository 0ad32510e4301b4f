package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/juju/names/v5"
	"gopkg.in/httprequest.v1"

	"github.com/juju/juju/api/base"
	"github.com/juju/juju/core/leadership"
	"github.com/juju/juju/rpc/params"
	"github.com/juju/juju/worker/uniter/remotestate"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/controller"
)

// claimDuration is the duration of a leader's lease: a minute in Juju, shorter here so that tests see leadership
// move.
const claimDuration = 2 * time.Second

type connection struct {
	ctx         context.Context
	remote      *controller.Remote
	unit, agent string
}

var errNoConnection = errors.New("this controller takes API calls only")

// APICall implements [base.APICaller].
func (c *connection) APICall(facade string, _ int, id, request string, args, response any) error {
	return c.call(c.ctx, facade, id, request, args, response)
}

func (c *connection) call(ctx context.Context, facade, id, request string, args, response any) error {
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	answer := c.remote.Call(ctx, controller.Request{
		Agent: c.agent, Unit: c.unit, Facade: facade, ID: id, Request: request, Params: text,
	})
	switch {
	case answer.Error != nil:
		return answer.Error
	case response == nil:
		return nil
	}
	return json.Unmarshal(answer.Result, response)
}

// BestFacadeVersion implements [base.APICaller]: the newest of Juju 3.5.
func (c *connection) BestFacadeVersion(string) int { return 19 }

// ModelTag implements [base.APICaller].
func (c *connection) ModelTag() (names.ModelTag, bool) { return names.ModelTag{}, false }

// Context implements [base.APICaller].
func (c *connection) Context() context.Context { return c.ctx }

// HTTPClient implements [base.APICaller]. It is made for resources, and reaches nothing.
func (c *connection) HTTPClient() (*httprequest.Client, error) { return &httprequest.Client{}, nil }

// RootHTTPClient implements [base.APICaller].
func (c *connection) RootHTTPClient() (*httprequest.Client, error) { return nil, errNoConnection }

// BakeryClient implements [base.APICaller].
func (c *connection) BakeryClient() base.MacaroonDischarger { return nil }

// ConnectStream implements [base.APICaller].
func (c *connection) ConnectStream(string, url.Values) (base.Stream, error) {
	return nil, errNoConnection
}

// ConnectControllerStream implements [base.APICaller].
func (c *connection) ConnectControllerStream(string, url.Values, http.Header) (base.Stream, error) {
	return nil, errNoConnection
}

// ClaimLeadership implements [leadership.Claimer].
func (c *connection) ClaimLeadership(string, string, time.Duration) error {
	err := c.call(c.ctx, "Runner", "", "Claim", nil, nil)
	if params.IsCodeLeadershipClaimDenied(err) {
		return leadership.ErrClaimDenied
	}
	return err
}

// BlockUntilLeadershipReleased implements [leadership.Claimer].
func (c *connection) BlockUntilLeadershipReleased(_ string, cancelled <-chan struct{}) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	go func() {
		select {
		case <-cancelled:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := c.call(ctx, "Runner", "", "Released", nil, nil)
	if ctx.Err() != nil {
		return leadership.ErrBlockCancelled
	}
	return err
}

// stay keeps the agent present, as a connection to a real controller does.
func (c *connection) stay() {
	for c.ctx.Err() == nil {
		if err := c.call(c.ctx, "Runner", "", "Stays", nil, nil); err != nil {
			select {
			case <-time.After(controller.BeatInterval):
			case <-c.ctx.Done():
			}
		}
	}
}

// beat reports repeatedly that this process runs.
func (c *connection) beat() {
	ticker := time.NewTicker(controller.BeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			// A controller that is away for now hears the next.
			_ = c.call(c.ctx, "Runner", "", "Beat", nil, nil)
		case <-c.ctx.Done():
			return
		}
	}
}

// updateStatus fires when the controller requests it, instead of every five minutes.
func (c *connection) updateStatus() remotestate.UpdateStatusTimerFunc {
	strikes := make(chan time.Time)
	go func() {
		for seen := -1; c.ctx.Err() == nil; {
			first := seen < 0
			if err := c.call(c.ctx, "Runner", "", "UpdateStatus", seen, &seen); err != nil {
				return
			}
			if first {
				continue // asked of an earlier agent
			}
			select {
			case strikes <- time.Now():
			case <-c.ctx.Done():
			}
		}
	}()
	return func(time.Duration) remotestate.Waiter { return waiter(strikes) }
}

type waiter <-chan time.Time

// After implements [remotestate.Waiter].
func (w waiter) After() <-chan time.Time { return w }
