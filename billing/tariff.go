package billing

import (
	"errors"
	"fmt"
	"math/bits"
)

// Kind is what sort of session is priced.
type Kind string

// The kinds of session. The first three are conversations with an agent.
const (
	Web      Kind = "web"      // an agent over a WebSocket or WebRTC
	Inbound  Kind = "inbound"  // an agent answers one of the account's numbers
	Outbound Kind = "outbound" // an agent calls somebody
	TTS      Kind = "tts"      // synthesis without a call
	STT      Kind = "stt"      // recognition without a call
	Denoise  Kind = "denoise"  // noise removal without a call
	Test     Kind = "test"     // an agent is tried in simulated calls, of which only the model's tokens cost
	// A text message that is sent, and one that comes in.
	MessageOut Kind = "message_out"
	MessageIn  Kind = "message_in"
)

// Agent says whether k is a conversation with an agent.
func (k Kind) Agent() bool { return k == Web || k.Phone() }

// Phone says whether k has a telephone line.
func (k Kind) Phone() bool { return k == Inbound || k == Outbound }

// PaidOnly says whether bonus credit may not pay for k.
func (k Kind) PaidOnly() bool { return k == Outbound || k == MessageOut }

// Terms are what a session's prices depend on besides the card.
type Terms struct {
	Kind    Kind
	Country string // ISO code, telephone and messages: of the owned number inbound, of the destination outbound
	Mobile  bool   // outbound only: the destination is a mobile
	// OwnTrunk: the line is one of the account's own, which pays its carrier itself. Country and
	// Mobile do not matter then.
	OwnTrunk bool
}

// Errors of pricing.
var (
	ErrNoPrice  = errors.New("the rate card has no price for this")
	ErrQuantity = errors.New("a quantity cannot be priced")
)

// rate is a price and how many billed quantities it buys; per 0 is not rated.
type rate struct {
	price Money
	per   int64
}

// Tariff is the part of a card that one session pays by, looked up once at its start.
type Tariff struct {
	rates [NumComponents]rate
}

// Rated quantities: what one price on the card buys.
const (
	perMinute  = 60 // seconds
	perMillion = 1_000_000
	perEach    = 1
)

// Tariff finds the prices of a session. Recognition, synthesis and noise removal
// inside a conversation are part of its platform price and not rated there. It
// fails with ErrNoPrice for a country the card does not sell or an unknown kind.
func (c *RateCard) Tariff(t Terms) (Tariff, error) {
	var out Tariff
	r := &out.rates
	switch {
	case t.Kind == TTS:
		r[TTSChars] = rate{c.f.TTSPerMillionChars, perMillion}
	case t.Kind == STT:
		r[STTTime] = rate{c.f.STTPerMinute, perMinute}
	case t.Kind == Denoise:
		r[DenoiseTime] = rate{c.f.DenoisePerMinute, perMinute}
	case t.Kind == Test:
		c.tokens(r)
	case t.Kind == MessageOut || t.Kind == MessageIn:
		price, err := c.message(t)
		if err != nil {
			return Tariff{}, err
		}
		r[Segments] = rate{price, perEach}
	case t.Kind.Agent():
		r[AgentTime] = rate{c.f.Agent.PlatformPerMinute, perMinute}
		c.tokens(r)
		if p := c.f.Realtime; c.SellsRealtime() {
			r[AudioIn], r[AudioCached], r[AudioOut] = rate{*p.AudioInputPerMillion, perMillion}, rate{*p.CachedAudioInputPerMillion, perMillion}, rate{*p.AudioOutputPerMillion, perMillion}
		}
		r[CRMCalls] = rate{c.f.CRMLoggedCall, perEach}
		r[WebSearches] = rate{c.f.WebSearch, perEach}
	default:
		return Tariff{}, fmt.Errorf("%w: session kind %q", ErrNoPrice, clip(string(t.Kind)))
	}
	if t.Kind.Phone() {
		price, err := c.line(t)
		if err != nil {
			return Tariff{}, err
		}
		r[LineTime] = rate{price, perEach}
	}
	return out, nil
}

// tokens rates those of language models.
func (c *RateCard) tokens(r *[NumComponents]rate) {
	for in := ReplyIn; in <= SummaryIn; in += 2 {
		r[in] = rate{c.f.LLM.InputPerMillion, perMillion}
		r[in+1] = rate{c.f.LLM.OutputPerMillion, perMillion}
	}
	for i, price := range []*Money{c.f.LLM.OwnKeyInputPerMillion, c.f.LLM.OwnKeyOutputPerMillion} {
		r[OwnIn+Component(i)] = rate{per: perMillion}
		if price != nil {
			r[OwnIn+Component(i)].price = *price
		}
	}
}

// line is the price of a started minute. Mobiles of the US and Canada cannot be
// told from landlines and pay the landline rate.
func (c *RateCard) line(t Terms) (Money, error) {
	prices, name := c.f.Phone.Inbound, "inbound"
	switch {
	case t.OwnTrunk && c.f.Phone.OwnTrunkPerMinute == nil:
		return 0, nil
	case t.OwnTrunk:
		return *c.f.Phone.OwnTrunkPerMinute, nil
	case t.Kind == Outbound && t.Mobile && t.Country != "US" && t.Country != "CA":
		prices, name = c.f.Phone.OutboundMobile, "outbound_mobile"
	case t.Kind == Outbound:
		prices, name = c.f.Phone.OutboundFixed, "outbound_fixed"
	}
	price, ok := prices[t.Country]
	if !ok {
		return 0, fmt.Errorf("%w: phone.%s %q", ErrNoPrice, name, clip(t.Country))
	}
	return price, nil
}

// message is the price of a segment. Without any prices messages cost nothing.
func (c *RateCard) message(t Terms) (Money, error) {
	prices, name := c.f.Phone.MessageInbound, "message_inbound"
	if t.Kind == MessageOut {
		prices, name = c.f.Phone.MessageOutbound, "message_outbound"
	}
	if prices == nil {
		return 0, nil
	}
	price, ok := (*prices)[t.Country]
	if !ok {
		return 0, fmt.Errorf("%w: phone.%s %q", ErrNoPrice, name, clip(t.Country))
	}
	return price, nil
}

// LineMinute is the price of one started telephone minute; 0 without a line.
func (t *Tariff) LineMinute() Money { return t.rates[LineTime].price }

// Item is one line of a bill: quantity in billed units (seconds, started minutes,
// tokens, code points, events), the card's price, and their product.
type Item struct {
	Rated     bool // the session pays for this component at all
	Quantity  int64
	UnitPrice Money
	Amount    Money
}

// Bill is a session's price by component.
type Bill [NumComponents]Item

// Total is the sum of all amounts.
func (b *Bill) Total() Money {
	var sum Money
	for i := range b {
		sum += b[i].Amount
	}
	return sum
}

// Price computes the bill of cumulative usage. It grows with every counter. It
// fails with ErrQuantity when a counter is negative or the amount has no place
// in Money.
func (t *Tariff) Price(u Usage) (Bill, error) {
	var b Bill
	var sum Money
	for c := range Component(len(b)) {
		r := t.rates[c]
		if u[c] < 0 {
			return Bill{}, fmt.Errorf("%w: %d of %s", ErrQuantity, u[c], c)
		}
		if r.per == 0 {
			continue
		}
		q := quantity(c, u[c])
		amount, ok := mulDiv(q, r)
		if sum += amount; !ok || sum < 0 {
			return Bill{}, fmt.Errorf("%w: %d of %s", ErrQuantity, u[c], c)
		}
		b[c] = Item{Rated: true, Quantity: q, UnitPrice: r.price, Amount: amount}
	}
	return b, nil
}

// quantity turns a counter into billed units.
func quantity(c Component, n int64) int64 {
	switch c {
	case AgentTime, STTTime, DenoiseTime:
		return ceilDiv(n, 1000)
	case LineTime:
		return StartedMinutes(n)
	}
	return n
}

// StartedMinutes is how many telephone minutes have begun ms after the answer.
func StartedMinutes(ms int64) int64 { return ceilDiv(ms, 60_000) }

func ceilDiv(n, d int64) int64 {
	q := n / d
	if n%d > 0 {
		q++
	}
	return q
}

// mulDiv is q*price/per, half a nano-dollar rounded up, through a 128-bit product.
// Both factors are at least 0.
func mulDiv(q int64, r rate) (Money, bool) {
	hi, lo := bits.Mul64(uint64(q), uint64(r.price))
	lo, carry := bits.Add64(lo, uint64(r.per)/2, 0)
	hi += carry
	if hi >= uint64(r.per) {
		return 0, false
	}
	n, _ := bits.Div64(hi, lo, uint64(r.per))
	return Money(n), n <= 1<<63-1
}
