package outbound

import (
	"context"
	"errors"
	"fmt"

	"parley/api"
	"parley/api/callcenter"
	"parley/billing/destination"
	"parley/store"
	"parley/store/campaign"
)

// mayCallNow is api.ErrHours outside the hours in which an account calls people, by the clocks that it has chosen.
func (d *Dialler) mayCallNow(ctx context.Context, account, to string) error {
	w, err := campaign.New(d.Store).Window(ctx, account)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	names, where := []string{w.Zone}, "in "+w.Zone
	if w.Zone == callcenter.ByDestination {
		names, where = destination.Zones(to), "where the number is"
	}
	zones, err := callcenter.Locations(names)
	if err == nil && len(zones) > 0 && w.Hours.Open(d.Store.Now(), zones) {
		return nil
	}
	from, until := w.Hours.Strings()
	return api.Detail(api.ErrHours, fmt.Sprintf("It calls from %s to %s %s.", from, until, where))
}
