package topup

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/payments"
)

func viewRecharge(s *payments.RechargeState) wire.AutoRecharge {
	v := wire.AutoRecharge{Enabled: s.Enabled, Threshold: wire.USD(s.Threshold), Amount: wire.USD(s.Amount), MonthlyCap: wire.USD(s.MonthlyCap),
		CardSaved: s.CardSaved, ChargedThisMonth: wire.USD(s.Charged), InProgress: api.Some(s.Open), RetryAt: s.NotBefore}
	if s.Failure != "" {
		v.LastFailure = &wire.RechargeFailure{Reason: string(s.Failure), Code: s.Code, At: *s.FailedAt}
	}
	return v
}

// setting is a number of dollars in a request, with bounds of its own.
type setting struct{ dollars }

// Schema implements huma.SchemaProvider.
func (setting) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(maxSetting/billing.USD)
	return &huma.Schema{Type: huma.TypeNumber, Minimum: &least, Maximum: &most, Examples: []any{100}, Description: "US dollars, whole cents."}
}

// maxSetting bounds the threshold and the cap.
const maxSetting = 1_000_000 * billing.USD

// RechargeSettings are what the owner sets.
type RechargeSettings struct {
	Enabled    *bool   `json:"enabled,omitempty" doc:"Whether to recharge."`
	Threshold  setting `json:"threshold,omitempty"`
	Amount     dollars `json:"amount,omitempty"`
	MonthlyCap setting `json:"monthly_cap,omitempty"`
}

func (d *Service) mountSettings(a *api.API) {
	const at = "/v1/auto-recharge"
	api.Register(a, routes.Get(at, "get-auto-recharge", "Read automatic recharge",
		"The settings, those of the rate card where none were made, and how it stands."), d.readSettings)
	const rules = " `amount` is within the bounds of a top-up and at most what the operator lets one charge be, 500 US dollars where they say nothing; " +
		"`monthly_cap` is at least `amount`. Enabling it charges the card at once when the balance is below `threshold`; it needs a card that has " +
		"paid a top-up, else the answer is 402. The card that paid last is charged, and after each charge not again for ten minutes. This takes an " +
		"owner's sign-in, or a key with the mark money."
	set := func(whole bool) func(context.Context, *settingsInput) (*api.Reply[wire.AutoRecharge], error) {
		return func(ctx context.Context, in *settingsInput) (*api.Reply[wire.AutoRecharge], error) {
			return d.set(ctx, in.Body, whole)
		}
	}
	api.Register(a, routes.Put(at, "replace-auto-recharge", "Set automatic recharge",
		"Fields that are not sent, or null, become those of the rate card, and `enabled` false."+rules, http.StatusPaymentRequired).For(api.Payers).OwnChecks(), set(true))
	api.Register(a, routes.Patch(at, "update-auto-recharge", "Change automatic recharge",
		"Fields that are not sent, or null, stay as they are."+rules, http.StatusPaymentRequired).For(api.Payers).OwnChecks(), set(false))
}

type settingsInput struct{ Body RechargeSettings }

func (d *Service) readSettings(ctx context.Context, _ *struct{}) (*api.Reply[wire.AutoRecharge], error) {
	return api.Show(viewRecharge)(d.Payments.Recharge(ctx, api.AccountOf(ctx), d.Provider.Name(), payments.DefaultRecharge(d.Card())))
}

// set changes the settings that were sent; whole brings the others back to the rate
// card's.
func (d *Service) set(ctx context.Context, in RechargeSettings, whole bool) (*api.Reply[wire.AutoRecharge], error) {
	defaults := payments.DefaultRecharge(d.Card())
	s, err := d.Payments.SetRecharge(ctx, api.AccountOf(ctx), d.Provider.Name(), defaults, func(r *payments.Recharge) error {
		if whole {
			*r = defaults
		}
		if in.Enabled != nil {
			r.Enabled = *in.Enabled
		}
		given := whole
		for _, f := range []struct {
			to   *billing.Money
			from dollars
		}{{&r.Threshold, in.Threshold.dollars}, {&r.Amount, in.Amount}, {&r.MonthlyCap, in.MonthlyCap.dollars}} {
			if f.from.given {
				*f.to, given = f.from.Money, true
			}
		}
		if !given && !r.Enabled {
			return nil // it can be disabled whatever the bounds have become
		}
		return d.judge(*r)
	})
	if errors.Is(err, store.ErrTopupRequired) {
		err = api.Detail(err, "pay a top-up by card first: the card that pays is kept, and recharged from then on")
	}
	return api.Show(viewRecharge)(s, err)
}

// judge says what is wrong with settings.
func (d *Service) judge(r payments.Recharge) error {
	if err := d.check(dollars{r.Amount, true}); err != nil {
		return err
	}
	what := ""
	switch {
	case r.Amount > d.Store.MaxRecharge():
		what = fmt.Sprintf("amount: the operator lets one charge be %s US dollars at most", d.Store.MaxRecharge())
	case r.Threshold < 0 || r.Threshold > maxSetting:
		what = fmt.Sprintf("threshold: from 0 to %s US dollars", maxSetting)
	case r.MonthlyCap < r.Amount:
		what = fmt.Sprintf("monthly_cap: at least the amount, %s US dollars", r.Amount)
	case r.MonthlyCap > maxSetting:
		what = fmt.Sprintf("monthly_cap: at most %s US dollars", maxSetting)
	case r.Threshold%billing.Cent != 0:
		what = "threshold: whole cents only"
	case r.MonthlyCap%billing.Cent != 0:
		what = "monthly_cap: whole cents only"
	default:
		return nil
	}
	return api.Bad("%s", what)
}
