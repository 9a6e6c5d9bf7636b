package callcenter

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/billing/destination"
	"parley/store"
	"parley/store/campaign"
)

// mountWindow adds the routes of the time of day in which an account calls people.
func (s *bulk) mountWindow(a *api.API) {
	const path = "/callcenter/call-window"
	api.Register(a, callRoutes.Get(path, "get-call-window", "Read when people are called",
		"The time of day in which the account calls people. 404: at any time.", http.StatusNotFound), s.window)
	api.Register(a, callRoutes.Put(path, "set-call-window", "Set when people are called",
		"A call outside of it is refused with `callcenter.outside_call_window`. Batches that are queued from now on wait for it, unless they have a `call_window` of their own. "+
			"Calls to colleagues to whom callers are transferred are placed at any time.").OwnChecks(), s.setWindow)
	api.Register(a, callRoutes.Delete(path, "remove-call-window", "Call people at any time",
		"Batches that are queued keep what they have."), s.removeWindow)
}

func (s *bulk) window(ctx context.Context, _ *struct{}) (*api.Reply[wire.CallWindow], error) {
	return api.Show(func(w *campaign.Window) wire.CallWindow { return windowOf(w.Hours, w.Zone) })(campaign.New(s.db).Window(ctx, api.AccountOf(ctx)))
}

func (s *bulk) setWindow(ctx context.Context, in *struct{ Body wire.CallWindow }) (*api.Reply[wire.CallWindow], error) {
	w, err := readWindow("body", &in.Body)
	if err == nil {
		err = campaign.New(s.db).SetWindow(ctx, api.AccountOf(ctx), w)
	}
	if err != nil {
		return nil, err
	}
	return api.Body(windowOf(w.Hours, w.Zone)), nil
}

func (s *bulk) removeWindow(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return nil, campaign.New(s.db).SetWindow(ctx, api.AccountOf(ctx), nil)
}

// windowOf shows hours.
func windowOf(h *destination.Hours, zone string) wire.CallWindow {
	from, to := h.Strings()
	return wire.CallWindow{Start: from, End: to, Timezone: zone}
}

// readWindow reads hours, which stand at path in a request.
func readWindow(path string, c *wire.CallWindow) (*campaign.Window, error) {
	h, err := destination.ParseHours(c.Start, c.End)
	if err != nil {
		return nil, api.Bad("%s: %v", path, destination.ErrHours)
	}
	if c.Timezone != ByDestination {
		if _, err := time.LoadLocation(c.Timezone); err != nil || c.Timezone == "" || c.Timezone == "Local" {
			return nil, api.Bad("%s.timezone: a time zone as IANA names it, such as Europe/Madrid, or destination", path)
		}
	}
	return &campaign.Window{Hours: &h, Zone: c.Timezone}, nil
}

// accountsWindow is that of an account; nil: it calls people at any time.
func (s *bulk) accountsWindow(ctx context.Context, account string) (*campaign.Window, error) {
	w, err := campaign.New(s.db).Window(ctx, account)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return w, err
}
