package webhook

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/webhook"
)

const (
	// lookEvery is how often a request that waits looks for an event, and maxWait how long it may wait: less than proxies let an answer take.
	lookEvery = time.Second
	maxWait   = 25 * time.Second
	// maxWaiting is how many requests of an account wait at once; others are answered at once. An account has as many webhooks.
	maxWaiting = webhook.Max
)

type takeInput struct {
	OneWebhook
	Wait int `query:"wait" doc:"How many seconds to wait for an event." minimum:"0" maximum:"25" default:"0" example:"20"`
}

// take answers with the next event of a webhook that listens, as it would be sent.
func (m *webhooks) take(ctx context.Context, in *takeInput) (*api.Reply[wire.Taken], error) {
	account := api.AccountOf(ctx)
	if err := m.hooks.Listen(ctx, account, in.ID); err != nil {
		return nil, err
	}
	patience := min(time.Duration(in.Wait)*time.Second, maxWait)
	if !m.waits(account, 1) {
		patience = 0
	}
	defer m.waits(account, -1)
	over := time.NewTimer(patience)
	defer over.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		event, err := m.next(ctx, account, in.ID)
		if err != nil || event != nil {
			return api.Found(&wire.Taken{Event: event}, err)
		}
		select {
		case <-look.C:
		case <-over.C:
			return api.Body(wire.Taken{}), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// waits notes that one request more of an account waits, or one less, and says whether there are not too many.
func (m *webhooks) waits(account string, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting[account] += n; m.waiting[account] <= 0 {
		delete(m.waiting, account)
	}
	return m.waiting[account] <= maxWaiting
}

// next is the next event as a request; nil: none is due. One that cannot be sent is given up, and the one behind it is next.
func (m *webhooks) next(ctx context.Context, account, id string) (*wire.TakenEvent, error) {
	for {
		d, err := m.hooks.Take(ctx, account, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil, nil
		case errors.Is(err, store.ErrUnsealed):
			err = m.unsent(ctx, d, "the webhook's secret cannot be read; rotate it")
		case err == nil:
			event, gone := m.asSent(ctx, d)
			if gone == nil {
				return event, nil
			}
			if err = gone; errors.Is(gone, store.ErrNotFound) {
				err = m.unsent(ctx, d, "what the event is about was deleted")
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

func (m *webhooks) unsent(ctx context.Context, d *webhook.DueDelivery, why string) error {
	_, err := m.hooks.Took(ctx, d.Account, d.Webhook, d.Event, webhook.Attempt{At: m.db.Now(), Failure: why})
	return err
}

// asSent is a delivery as the request that it would be.
func (m *webhooks) asSent(ctx context.Context, d *webhook.DueDelivery) (*wire.TakenEvent, error) {
	body, err := Body(ctx, m.db, d)
	if err != nil {
		return nil, err
	}
	header := http.Header{"User-Agent": {"Parley"}, "Content-Type": {"application/json"}}
	if err := Sign(header, d.Secrets, d.Event, m.db.Now(), body); err != nil {
		return nil, err
	}
	event := &wire.TakenEvent{ID: d.Event, Type: d.Kind, Headers: map[string]string{}, Body: string(body)}
	for name := range header {
		event.Headers[strings.ToLower(name)] = header.Get(name)
	}
	return event, nil
}

type tookInput struct {
	OneDelivery
	Body wire.TakenAttempt
}

// took notes how it went with an event that was taken.
func (m *webhooks) took(ctx context.Context, in *tookInput) (*api.Reply[wire.Delivery], error) {
	a := webhook.Attempt{At: m.db.Now(), Status: in.Body.Status, TookMS: in.Body.LatencyMS, Answer: in.Body.Answer, Failure: in.Body.Error}
	return api.Show(viewDelivery)(m.hooks.Took(ctx, api.AccountOf(ctx), in.ID, in.Delivery, a))
}
