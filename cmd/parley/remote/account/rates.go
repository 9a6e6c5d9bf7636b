package account

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/billing"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newRatesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "rates [COUNTRY]", Short: "Show the prices",
		Long: "Shows the server's public rate card, in US dollars before tax; no key is needed. With a country, such as ES, it shows\n" +
			"what telephone minutes cost there: of calls to a number in it, and of calls out to its landlines and mobiles.",
		Example: "  parley rates\n  parley rates ES\n  parley rates --json | jq .agent", Args: cobra.MaximumNArgs(1)}
	r := server.Flags(cmd)
	return command.Interruptible(cmd, command.OneObject, func(j *command.Job, args []string) error {
		country := ""
		if len(args) == 1 {
			if country = isoCountry(args[0]); country == "" {
				return command.UsageError("a country is two letters, such as ES")
			}
		}
		c, err := r.Public()
		if err != nil {
			return err
		}
		rates, err := c.Rates(j.Ctx)
		if err != nil {
			return err
		}
		if country == "" {
			return j.Answer(rates.JSON, func(w io.Writer) { showRates(w, rates) })
		}
		there, err := ratesOf(rates, country)
		if err != nil {
			return err
		}
		return j.Answer(there, there.show)
	})
}

// isoCountry is a country as the rate card names it; empty when text is none.
func isoCountry(text string) string {
	text = strings.ToUpper(text)
	if len(text) != 2 || text[0] < 'A' || text[0] > 'Z' || text[1] < 'A' || text[1] > 'Z' {
		return ""
	}
	if text == "UK" { // as people say
		return "GB"
	}
	return text
}

// ErrNotSold: the rate card has no prices there.
var ErrNotSold = errors.New("not found")

// countryRates are the prices of telephone minutes; nil is not sold.
type countryRates struct {
	Version  string         `json:"version"`
	Currency string         `json:"currency"`
	Country  string         `json:"country"`
	Inbound  *billing.Money `json:"inbound"`
	Fixed    *billing.Money `json:"outbound_fixed"`
	Mobile   *billing.Money `json:"outbound_mobile"`
	// Of a segment of a text message; absent where the card has no prices of them.
	TextIn  *billing.Money `json:"message_inbound,omitempty"`
	TextOut *billing.Money `json:"message_outbound,omitempty"`
}

func ratesOf(r *client.Rates, country string) (c countryRates, err error) {
	price := func(prices map[string]billing.Money) *billing.Money {
		if p, ok := prices[country]; ok {
			return &p
		}
		return nil
	}
	c = countryRates{r.Version, r.Currency, country, price(r.Phone.Inbound), price(r.Phone.OutboundFixed), price(r.Phone.OutboundMobile), price(r.Phone.MessageInbound), price(r.Phone.MessageOutbound)}
	if country == "US" || country == "CA" { // whose mobiles look like landlines
		c.Mobile = c.Fixed
	}
	if c.Inbound == nil && c.Fixed == nil && c.Mobile == nil {
		err = fmt.Errorf("%w: the rate card has no prices for %s", ErrNotSold, country)
	}
	return c, err
}

func (c countryRates) show(w io.Writer) {
	fmt.Fprintf(w, "rate card\t%s, USD a started minute\n", c.Version)
	for _, p := range []struct {
		what  string
		price *billing.Money
	}{{"calls to a number", c.Inbound}, {"calls to landlines", c.Fixed}, {"calls to mobiles", c.Mobile}} {
		shown := "not sold"
		if p.price != nil {
			shown = p.price.String()
		}
		fmt.Fprintf(w, "%s\t%s\n", p.what, shown)
	}
	if c.TextIn != nil {
		fmt.Fprintf(w, "text messages to a number\t%s a segment\n", c.TextIn)
	}
	if c.TextOut != nil {
		fmt.Fprintf(w, "text messages sent there\t%s a segment\n", c.TextOut)
	}
}

func showRates(w io.Writer, r *client.Rates) {
	fmt.Fprintf(w, "rate card\t%s, %s\n", r.Version, r.Currency)
	type row struct {
		what  string
		price billing.Money
		per   string
	}
	rows := []row{
		{"agent", r.Agent.PerMinute, "a minute, by the second"},
		{"language model, in", r.LLM.InputPerMillion, "a million tokens"},
		{"language model, out", r.LLM.OutputPerMillion, "a million tokens"},
		{"speech from text", r.TTSPerMillionChars, "a million characters"},
		{"text from speech", r.STTPerMinute, "a minute, by the second"},
		{"noise removal", r.DenoisePerMinute, "a minute, by the second"},
		{"telephone number", r.Phone.NumberPerMonth, "a month"},
		{"call that reaches the CRM", r.CRMLoggedCall, "each"},
		{"web search", r.WebSearch, "each"},
	}
	if a := r.Realtime; a != nil {
		rows = append(rows, row{"speech model, heard", a.Input, "a million tokens of audio"}, row{"speech model, heard before", a.Cached, "a million tokens of audio"},
			row{"speech model, spoken", a.Output, "a million tokens of audio"})
	}
	if own := r.LLM; own.OwnKeyInput+own.OwnKeyOutput > 0 {
		rows = append(rows, row{"language model on your key, in", own.OwnKeyInput, "a million tokens"}, row{"language model on your key, out", own.OwnKeyOutput, "a million tokens"})
	}
	if own := r.Phone.OwnTrunk; own > 0 {
		rows = append(rows, row{"telephone line on your trunk", own, "a started minute"})
	}
	for _, p := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.what, p.price, p.per)
	}
	countries := map[string]billing.Money{}
	for _, prices := range []map[string]billing.Money{r.Phone.Inbound, r.Phone.OutboundFixed, r.Phone.OutboundMobile} {
		maps.Copy(countries, prices)
	}
	fmt.Fprintf(w, "telephone minutes\t\tparley rates COUNTRY: %s\n", strings.Join(slices.Sorted(maps.Keys(countries)), " "))
}
