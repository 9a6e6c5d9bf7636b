package billing

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// CardError lists what is wrong with a rate card, one line for each fault.
type CardError []string

func (e CardError) Error() string { return strings.Join(e, "\n") }

// maxPrice bounds every amount of a card, so that a slipped decimal point is
// refused and sums of wallet rules cannot overflow.
const maxPrice = 1_000_000 * USD

// ReadRateCard reads the card in a file; without a path it is the one built in.
func ReadRateCard(path string) (*RateCard, error) {
	if path == "" {
		return DefaultRateCard(), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	card, err := ParseRateCard(text)
	if err != nil {
		return nil, fmt.Errorf("rate card %s: %w", path, err)
	}
	return card, nil
}

// ParseRateCard reads a card from YAML or JSON, which is YAML too. Every key of
// the served card must be present once, those of realtime together or not at all, those of messages likewise, those of own keys or not, and no other; prices are plain decimals
// read as text, never through a float. The error is a CardError.
func ParseRateCard(text []byte) (*RateCard, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, CardError{strings.Join(strings.Fields(err.Error()), " ")}
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, CardError{"a rate card is a mapping of keys to values"}
	}
	r := &cardReader{values: map[string]*yaml.Node{}, lines: map[string]int{}}
	r.flatten("", doc.Content[0])
	f := r.fields()
	for _, path := range slices.Sorted(maps.Keys(r.values)) {
		r.fail(path, "unknown key")
	}
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return newRateCard(f)
}

// cardReader takes values out of the flattened document; what is left over at the
// end is unknown.
type cardReader struct {
	values map[string]*yaml.Node // dotted path to scalar
	lines  map[string]int        // every path, also of mappings, to its line
	errs   CardError
}

func (r *cardReader) fail(path, format string, args ...any) {
	where := path + ": "
	if n := r.lines[path]; n > 0 {
		where = fmt.Sprintf("line %d: %s", n, where)
	}
	r.errs = append(r.errs, where+fmt.Sprintf(format, args...))
}

func (r *cardReader) flatten(path string, n *yaml.Node) {
	if path != "" {
		if _, twice := r.lines[path]; twice {
			r.lines[path] = n.Line
			r.fail(path, "is there twice")
			return
		}
		r.lines[path] = n.Line
	}
	switch n.Kind {
	case yaml.ScalarNode:
		r.values[path] = n
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if path != "" {
				key = path + "." + key
			}
			r.flatten(key, n.Content[i+1])
		}
	default:
		r.fail(path, "lists and references have no place in a rate card")
	}
}

// take removes the scalar at path; ok is false, with an error noted, without one.
func (r *cardReader) take(path string) (n *yaml.Node, ok bool) {
	n, ok = r.values[path]
	if !ok {
		r.fail(path, "missing")
		return nil, false
	}
	delete(r.values, path)
	return n, true
}

func (r *cardReader) text(path string) string {
	if n, ok := r.take(path); ok {
		return n.Value
	}
	return ""
}

// word wants exactly one value: it says how prices apply and is no choice.
func (r *cardReader) word(path, got, want string) {
	if r.lines[path] > 0 && got != want {
		r.fail(path, "must be %s", want)
	}
}

func (r *cardReader) money(path string) Money {
	n, ok := r.take(path)
	if !ok {
		return 0
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		r.fail(path, "write the number without quotes")
		return 0
	}
	m, err := ParseMoney(n.Value)
	switch {
	case err != nil:
		r.fail(path, "%v", err)
	case m < 0 || m > maxPrice:
		r.fail(path, "must be from 0 to %s", maxPrice)
	}
	return m
}

func (r *cardReader) count(path string) int {
	n, ok := r.take(path)
	if !ok {
		return 0
	}
	i, err := strconv.Atoi(n.Value)
	if err != nil || i < 1 || i > 100_000 {
		r.fail(path, "must be a whole number from 1 to 100000")
	}
	return i
}

func (r *cardReader) flag(path string) bool {
	n, ok := r.take(path)
	if ok && n.Value != "true" && n.Value != "false" {
		r.fail(path, "must be true or false")
	}
	return ok && n.Value == "true"
}

var isoCountry = regexp.MustCompile(`^[A-Z]{2}$`)

// prices reads a map from ISO country to price.
func (r *cardReader) prices(path string) map[string]Money {
	out := map[string]Money{}
	if _, ok := r.lines[path]; !ok {
		r.fail(path, "missing")
	}
	prefix := path + "."
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		country, ok := strings.CutPrefix(key, prefix)
		switch {
		case !ok:
			continue
		case country == "UK":
			r.fail(key, "the ISO code is GB")
		case !isoCountry.MatchString(country):
			r.fail(key, "not an ISO country code of two capital letters")
		}
		out[country] = r.money(key)
	}
	return out
}

// fields reads the card, and checks what is more than a value by itself.
func (r *cardReader) fields() (f cardFields) {
	r.fill("", reflect.ValueOf(&f).Elem())
	r.version(f.Version)
	r.word("currency", f.Currency, "USD")
	r.word("agent.billing", f.Agent.Billing, "per_second")
	r.word("phone.billing", f.Phone.Billing, "per_started_minute")
	r.wallet(f.Wallet)
	if p := f.Realtime; (p.AudioInputPerMillion == nil || p.CachedAudioInputPerMillion == nil || p.AudioOutputPerMillion == nil) && p != (cardFields{}).Realtime {
		r.fail("realtime", "needs all of its prices, or none")
	}
	if (f.Phone.MessageInbound == nil) != (f.Phone.MessageOutbound == nil) {
		r.fail("phone", "needs both message_inbound and message_outbound, or none")
	}
	for _, country := range []string{"US", "CA"} {
		if _, ok := f.Phone.OutboundMobile[country]; ok {
			r.fail("phone.outbound_mobile."+country, "mobiles there pay the landline rate; leave it out")
		}
	}
	return f
}

// fill reads the fields of a struct by their JSON names.
func (r *cardReader) fill(prefix string, v reflect.Value) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		path := prefix + name
		switch field := v.Field(i).Addr().Interface().(type) {
		case *string:
			*field = r.text(path)
		case *Money:
			*field = r.money(path)
		case **Money:
			if r.values[path] != nil {
				price := r.money(path)
				*field = &price
			}
		case *int:
			*field = r.count(path)
		case *bool:
			*field = r.flag(path)
		case *map[string]Money:
			*field = r.prices(path)
		case **map[string]Money:
			if r.lines[path] > 0 {
				prices := r.prices(path)
				*field = &prices
			}
		default:
			r.fill(path+".", v.Field(i))
		}
	}
}

func (r *cardReader) wallet(w Wallet) {
	switch {
	case len(r.errs) > 0: // comparing values that could not be read only adds noise
	case w.MinTopup > w.MaxTopup:
		r.fail("wallet.min_topup", "is above wallet.max_topup")
	case w.AutoRecharge.Amount < w.MinTopup || w.AutoRecharge.Amount > w.MaxTopup:
		r.fail("wallet.auto_recharge.amount", "must be from wallet.min_topup to wallet.max_topup")
	case w.AutoRecharge.MonthlyCap < w.AutoRecharge.Amount:
		r.fail("wallet.auto_recharge.monthly_cap", "is below wallet.auto_recharge.amount")
	}
}

var versionForm = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})\.\d{1,6}$`)

func (r *cardReader) version(v string) {
	if m := versionForm.FindStringSubmatch(v); m == nil {
		r.fail("version", "must be a date and a revision, as in 2026-01-31.1")
	} else if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
		r.fail("version", "%s is not a date", m[1])
	}
}
