// Package telnyx is the carrier.Carrier of Telnyx: its numbers API, version 2. The
// calls themselves come over the SIP connection that Route attaches numbers to.
//
// Telnyx has no pages of offers, so page n is the end of the first 15 n results. It
// sells only what was searched for lately, so an order looks for its number first.
// What an order is ours by is its customer_reference, and no request places an
// order before Telnyx was asked for one with that reference. An order names the
// number, not the number's id, which is found afterwards and may take a moment.
// In several countries an order waits for documents: days, with a Reason.
//
// The webhook of orders goes to Notice; it saves waiting and nothing depends on it.
//
// Messages go by the messages API. It has no key that would keep a request from sending
// a message twice, so none is repeated whose answer was lost; the message's reference
// travels as a tag and comes back with the webhooks. Messages that come in have webhooks
// alone.
package telnyx

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"

	"parley/sip/carrier"
)

// api is where Telnyx is.
const api = "https://api.telnyx.com/v2"

// Config is what a Carrier needs. The first three are required.
type Config struct {
	APIKey       string // KEY..., secret
	PublicKey    string // of the account, verifies webhooks: base64 of an Ed25519 key
	ConnectionID string // the SIP connection that calls come over
	// MessagingProfile is what bought numbers are put on to send and receive text messages; empty: Send refuses them.
	MessagingProfile string
	// Webhook is where Telnyx tells of messages that were sent; empty: where the profile says.
	Webhook string
	// BaseURL and Client replace Telnyx and how it is reached, for tests. A client of its own
	// follows no redirect, which could carry the key elsewhere.
	BaseURL string
	Client  *http.Client
}

// Carrier is a carrier.Notifier and carrier.Messenger. It is safe for concurrent use.
type Carrier struct {
	base, key, connection string
	profile, webhook      string
	public                string // base64
	client                *http.Client
	sleep                 func(context.Context, time.Duration) error
	seen                  replays
}

var (
	_ carrier.Notifier  = (*Carrier)(nil)
	_ carrier.Messenger = (*Carrier)(nil)
)

var (
	connectionID = regexp.MustCompile(`^[0-9]{1,32}$`)
	profileID    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// Check says what is wrong with a configuration, without repeating any of it.
func (c Config) Check() error {
	switch key, err := base64.StdEncoding.DecodeString(c.PublicKey); {
	case c.APIKey == "" || strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("telnyx: the API key is missing or contains white space")
	case err != nil || len(key) != ed25519.PublicKeySize:
		return errors.New("telnyx: the public key is not the base64 of an Ed25519 key")
	case !connectionID.MatchString(c.ConnectionID):
		return errors.New("telnyx: the connection id is not a number")
	case c.MessagingProfile != "" && !profileID.MatchString(c.MessagingProfile):
		return errors.New("telnyx: the messaging profile is not a UUID")
	}
	return nil
}

// New checks the configuration; it does not reach out to Telnyx.
func New(c Config) (*Carrier, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Carrier{base: strings.TrimSuffix(cmp.Or(c.BaseURL, api), "/"), key: c.APIKey, connection: c.ConnectionID, profile: c.MessagingProfile, webhook: c.Webhook, public: c.PublicKey,
		client: cmp.Or(c.Client, own), sleep: sleep}, nil
}

// Name implements carrier.Carrier.
func (*Carrier) Name() string { return "telnyx" }

// Search implements carrier.Carrier. A place that Telnyx does not cover has no numbers.
func (c *Carrier) Search(ctx context.Context, q carrier.Query) (carrier.Page, error) {
	q, err := q.Check()
	if err != nil {
		return carrier.Page{}, err
	}
	last := q.Page * carrier.PageSize
	filter := local(q.Country, last+1) // one more tells whether there is another page
	if q.Region != "" {
		filter.Set("filter[administrative_area]", q.Region)
	}
	if q.Locality != "" {
		filter.Set("filter[locality]", q.Locality)
	}
	offers, err := c.offers(ctx, q.Country, filter)
	if err != nil {
		return carrier.Page{}, err
	}
	from, to := min(last-carrier.PageSize, len(offers)), min(last, len(offers))
	return carrier.Page{Offers: offers[from:to:to], More: to < len(offers) && q.Page < carrier.MaxPage}, nil
}

// Offer implements carrier.Carrier.
func (c *Carrier) Offer(ctx context.Context, number string) (carrier.Offer, error) {
	n, err := phonenumbers.Parse(number, "ZZ")
	if err != nil || phonenumbers.Format(n, phonenumbers.E164) != number {
		return carrier.Offer{}, carrier.ErrNotAvailable
	}
	country := phonenumbers.GetRegionCodeForNumber(n)
	if len(country) != 2 {
		return carrier.Offer{}, carrier.ErrNotAvailable
	}
	filter := local(country, carrier.PageSize)
	// The digits without the country code end the number, however the pattern is compared.
	filter.Set("filter[phone_number][ends_with]", phonenumbers.GetNationalSignificantNumber(n))
	offers, err := c.offers(ctx, country, filter)
	if err != nil {
		return carrier.Offer{}, err
	}
	if i := slices.IndexFunc(offers, func(o carrier.Offer) bool { return o.Number == number }); i >= 0 {
		return offers[i], nil
	}
	return carrier.Offer{}, carrier.ErrNotAvailable
}

// local is the filter for geographic numbers of a country.
func local(country string, limit int) url.Values {
	return url.Values{
		"filter[country_code]": {country}, "filter[phone_number_type]": {"local"},
		"filter[best_effort]": {"false"}, "filter[limit]": {strconv.Itoa(limit)},
	}
}

func (c *Carrier) offers(ctx context.Context, country string, filter url.Values) ([]carrier.Offer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var answer struct{ Data []availableNumber }
	err := c.call(ctx, request{method: http.MethodGet, path: "/available_phone_numbers", query: filter}, &answer)
	switch {
	case errors.Is(err, carrier.ErrRefused), errors.Is(err, carrier.ErrNotFound): // no coverage there
		return nil, nil
	case err != nil:
		return nil, err
	}
	var out []carrier.Offer
	for _, a := range answer.Data {
		if o, ok := a.offer(country); ok {
			out = append(out, o)
		}
	}
	return out, nil
}
