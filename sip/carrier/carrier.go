// Package carrier is where telephone numbers come from: Carrier, what everybody
// who sells them does for us, and the values it speaks in. It knows who owns a
// number and where its calls go; the calls themselves are package sip's.
//
// A purchase goes like this:
//
//	look      Offer: is the number for sale, and for how much
//	hold      the ledger makes an order with a Reference of its own and holds the money
//	order     Order with that Reference; even if the answer is lost, the same Reference
//	          again, or Lookup, tells how the order stands and orders nothing twice
//	wait      Pending: Lookup now and then, for days if need be, until it is Active or Failed
//	route     Route(NumberID), until it succeeds: from then on its calls reach us
//	end       Release(NumberID), until it succeeds
package carrier

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"parley/billing"
)

// PageSize is how many offers a search gives at once.
const PageSize = 15

// Carrier sells telephone numbers and brings their calls to us. Its methods may be
// called from several goroutines, return before long even when the context has no
// deadline, and return the errors of this package. Numbers are E.164 with their
// "+"; countries are ISO codes, so Britain is GB.
type Carrier interface {
	// Name is a short constant such as "telnyx", fit for users and for a column of the database.
	Name() string
	// Search lists numbers for sale, geographic ones only. A page beyond the last is empty.
	Search(context.Context, Query) (Page, error)
	// Offer is what Search says of one number now, or ErrNotAvailable.
	Offer(ctx context.Context, number string) (Offer, error)
	// Order buys a number. The same Reference again buys nothing and says how the first order
	// stands, with another number it is ErrReferenceReused. ErrNotAvailable and ErrRefused: nothing was bought,
	// and nothing will be. Any other error, ErrUnavailable too: it may have been bought, so ask again.
	Order(context.Context, Order) (Ordered, error)
	// Lookup says how an order stands. ErrNotFound: it never reached the carrier, or, after an Order whose outcome is
	// unknown, is not in its list yet; then repeat the Order instead.
	Lookup(ctx context.Context, reference string) (Ordered, error)
	// Route makes the calls of a number of ours reach us; a second time it changes nothing. ErrNotFound: not ours.
	Route(ctx context.Context, numberID string) error
	// Release gives a number back for good. One that is not ours, or not any more, is no error.
	Release(ctx context.Context, numberID string) error
}

// Notifier is a Carrier that tells of its orders and messages by webhook.
type Notifier interface {
	Carrier
	// Notice verifies a webhook that arrived at now and says what it is about, which is nothing when
	// it is about something else, which deserves a 2xx too. Of an order it is a hint to look it up: anything may be
	// true by now. The body must be the bytes as they came. Unsigned, wrongly signed, too old or
	// seen before: ErrSignature. Signed, but not readable: ErrNotice.
	Notice(header http.Header, body []byte, now time.Time) (Notice, error)
}

// Query narrows a search. Empty strings narrow nothing.
type Query struct {
	Country  string // required
	Region   string // as the carrier spells it, such as NY
	Locality string // a town
	Page     int    // from 1 to MaxPage; 0 is 1
}

// MaxPage bounds how far a search goes: a carrier that knows no pages is asked for
// all of them up to the one that is wanted.
const MaxPage = 20

// Page is a part of what is for sale.
type Page struct {
	Offers []Offer // at most PageSize; the caller's to keep
	More   bool    // there is another page
}

// Offer is a number for sale. The costs are the carrier's, in US dollars, exact.
type Offer struct {
	Number   string
	Country  string
	Region   string   // empty when the carrier does not say
	Locality string   // likewise
	Features []string // in the carrier's words, such as voice; the caller's to keep
	Monthly  billing.Money
	Upfront  billing.Money
}

// Order asks for a number.
type Order struct {
	Reference string // ours, of this purchase: 1 to MaxReference letters, digits, dashes and underscores
	Number    string
}

// MaxReference is how long a reference may be, in bytes.
const MaxReference = 64

// State is how far an order is.
type State string

// Active and Failed are final.
const (
	Pending State = "pending" // the carrier works on it: seconds to days
	Active  State = "active"  // the number is ours
	Failed  State = "failed"  // it is not and will not be
)

// Ordered is an order as the carrier sees it now.
type Ordered struct {
	State    State
	Number   string
	NumberID string // the carrier's id of the number, never the number itself; empty until Active
	Reason   string // why it Failed or what it waits for, for people; may be empty
}

// Check says whether a search can be made, and how: its page is at least 1. A
// country is two capital letters; the rest is what people type, within bounds.
func (q Query) Check() (Query, error) {
	q.Page = cmp.Or(q.Page, 1)
	switch {
	case len(q.Country) != 2 || q.Country[0] < 'A' || q.Country[0] > 'Z' || q.Country[1] < 'A' || q.Country[1] > 'Z':
		return q, Refused("the country is no ISO code")
	case q.Page < 1 || q.Page > MaxPage:
		return q, Refused("there is no such page")
	case len(q.Region) > maxPlace || len(q.Locality) > maxPlace:
		return q, Refused("the place's name is too long")
	}
	return q, nil
}

// maxPlace bounds the names of places, in bytes.
const maxPlace = 100

// Check says whether an order can be placed.
func (o Order) Check() error {
	if !ValidReference(o.Reference) {
		return Refused("the order's reference is not usable")
	}
	if !ValidNumber(o.Number) {
		return ErrNotAvailable
	}
	return nil
}

// ValidNumber says whether a number has the form of E.164: "+" and 7 to 15 digits.
func ValidNumber(s string) bool {
	return len(s) >= 8 && len(s) <= 16 && s[0] == '+' && s[1] != '0' && strings.Trim(s[1:], "0123456789") == ""
}

// ValidReference says whether Order takes a reference.
func ValidReference(s string) bool { return len(s) <= MaxReference && reference.MatchString(s) }

var reference = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
