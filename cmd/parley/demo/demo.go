// Package demo sets up the demonstration of a server: an account with agents, numbers, a balance,
// and calls with their recordings.
//
// The calls took place once, on a server with the embedded engines, over real SIP and RTP
// (TestRecordDemonstration of package node makes them again), and are embedded with their sound,
// signalling and usage. Making them at each start would take a minute, load the machine while a
// newcomer looks at it, and cost money where a model is remote. Seeding stores them by the
// functions that store any call, each in one transaction with its charge and its row of the batch,
// under a name that is unique in the account, so the next start completes a seeding that was
// interrupted. They are marked as a demonstration; no webhook reports them, there is no consent
// because nobody was called, and a recording that was deleted stays deleted. The batch is paused.
//
// The 20 dollars beside the welcome credit are a top-up, because the welcome credit pays for
// neither numbers nor outbound calls. No payment provider took them, so nothing can be refunded
// and no card counts as saved.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"parley/api/recording"
	"parley/billing"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/payments"
	"parley/store/people"
)

// Seeder sets up the demonstration. All fields are set.
type Seeder struct {
	Store      *store.DB
	Ledger     *ledger.Ledger
	Numbers    *numbers.Store
	Payments   *payments.Store
	Campaigns  *campaign.Store
	Keys       *people.Store
	History    *history.Store
	Recordings *recording.Service
	Life       store.Node // of this node
	Network    bool       // there is a simulated carrier, so people can be called
	Log        *slog.Logger
}

// Account is the account of the demonstration and what belongs to it.
type Account struct {
	ID, Agent, Number, Key string
	// Caller is the agent that calls people; empty without a simulated carrier.
	Caller string
	// Second is a number in another country; empty without a simulated carrier.
	Second string
}

// What the demonstration consists of. Its pieces are found by these names, so seeding it again
// changes nothing.
const (
	accountName  = "Demonstration"
	firstNumber  = "+34911234567"
	secondNumber = "+12025550143"
	topup        = 20 // US dollars
)

// KeyFile is where the demonstration's API key is, in the data directory.
const KeyFile = "demo-key"

// Lola answers the telephone.
var Lola = store.Agent{
	Name: "Lola", Voice: "F1", Language: "en",
	FirstMessage: "Casa Lola, good day. How can I help you?",
	Prompt: `You answer the telephone of Casa Lola, a restaurant. Be brief and friendly.
When the caller says "what time do you open", "when do you close", "what are your opening hours", "are you open": We are open Monday to Friday from nine in the morning to six in the evening, and Saturday from ten to two.
When the caller says "are you open on Sunday": On Sunday we are closed.
When the caller says "where are you", "what is your address", "next to the station": We are at twelve Market Street, next to the station.
When the caller says "how much does it cost", "how much is the menu": The menu of the day costs fifteen dollars.
A table for lunch can be booked for up to eight people.
You can park behind our house.`,
	Settings: []byte(`{"phrases":["what time do you open on Monday","when do you open","what time do you close","are you open on Saturday","are you open on Sunday","where are you","what is your address","how much is the menu","what does the menu of the day cost","I would like to book a table for two","can I book a table","where can I park","is there parking","thank you","goodbye"]}`),
}

// rita calls people. It expects the lines of the people of the simulated carrier.
var rita = store.Agent{
	Name: "Rita", Voice: "F2", Language: "en",
	FirstMessage: "Good day, this is Casa Lola. Do I speak to the guest who booked a table for tomorrow?",
	Prompt: `You call guests of Casa Lola, a restaurant, the day before they come. Be brief and friendly.
When the caller says "yes that is me", "yes", "speaking": Your table for two is booked for tomorrow at eight in the evening. Does that still work for you?
When the caller says "that works for me thank you", "that works", "yes it does": Wonderful. We look forward to seeing you.
When the caller says "no", "that does not work", "wrong number": I am sorry. Please call us back, and we will find another day.
When nothing matches: Could you tell me whether tomorrow at eight still works for you?`,
	Settings: []byte(`{"phrases":["hello","yes that is me","speaking","who is this","that works for me thank you","yes that works","no that does not work","wrong number","thank you","goodbye"]}`),
}

// Seed sets up the demonstration, or finds it, and adds what is missing. Its API key is kept in
// the data directory, because the store keeps only hashes.
func (s *Seeder) Seed(ctx context.Context, dataDir string) (Account, error) {
	var d Account
	var err error
	if d.ID, err = s.Ledger.DemonstrationAccount(ctx, accountName, s.Store.RateCard()); err != nil {
		return d, err
	}
	if err := s.Payments.TopUpDemonstration(ctx, d.ID, topup*billing.USD); err != nil {
		return d, err
	}
	if err := s.seedAgents(ctx, &d); err != nil {
		return d, err
	}
	if err := s.SeedNumbers(ctx, &d); err != nil {
		return d, err
	}
	if d.Key, err = s.seedKey(ctx, d.ID, filepath.Join(dataDir, KeyFile)); err != nil {
		return d, err
	}
	return d, s.seedHistory(ctx, &d, s.Store.Now())
}

// seedAgents makes the agents, or finds them by their names.
func (s *Seeder) seedAgents(ctx context.Context, d *Account) error {
	agents, err := s.Store.Agents(ctx, d.ID, store.Page{})
	if err != nil {
		return err
	}
	wanted := map[*string]store.Agent{&d.Agent: Lola}
	if s.Network {
		wanted[&d.Caller] = rita
	}
	for id, agent := range wanted {
		for _, a := range agents {
			if a.Name == agent.Name {
				*id = a.ID
			}
		}
		if *id != "" {
			continue
		}
		a, err := s.Store.CreateAgent(ctx, d.ID, agent)
		if err != nil {
			return err
		}
		*id = a.ID
	}
	return nil
}

// SeedNumbers gives the account its numbers. They are free, as numbers that an operator adds.
func (s *Seeder) SeedNumbers(ctx context.Context, d *Account) error {
	d.Number = firstNumber
	if s.Network {
		d.Second = secondNumber
	}
	for _, number := range []string{d.Number, d.Second} {
		if number == "" {
			continue
		}
		_, err := s.Numbers.ByE164(ctx, d.ID, number)
		if errors.Is(err, store.ErrNotFound) {
			_, err = s.Numbers.Import(ctx, d.ID, number, d.Agent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seedKey returns the key that an earlier start left, while it is good.
func (s *Seeder) seedKey(ctx context.Context, account, path string) (string, error) {
	if b, err := os.ReadFile(path); err == nil {
		key := strings.TrimSpace(string(b))
		if p, err := s.Keys.Authenticate(ctx, key); err == nil && p.Account == account {
			return key, nil
		}
	}
	_, key, err := s.Keys.FirstKey(ctx, account, "demonstration", "")
	if err != nil {
		return "", err
	}
	return key, os.WriteFile(path, []byte(key+"\n"), 0o600)
}

// Guide says what to try, given a link to the pages and where HTTP (by scheme, http or
// https) and SIP listen.
func (d *Account) Guide(link, scheme, httpAddr, sipAddr string) string {
	var b strings.Builder
	web := scheme + "://" + Local(httpAddr)
	fmt.Fprintf(&b, "\nParley is running with a demonstration account.\n\n")
	fmt.Fprintf(&b, "  pages    %s\n           (opens once; bin/parley demo link prints another link)\n", link)
	fmt.Fprintf(&b, "  API      %s\n  docs     %s/docs\n  API key  %s\n  agent    %s\n  number   %s\n",
		web, web, d.Key, d.Agent, d.Number)
	if d.Second != "" {
		fmt.Fprintf(&b, "  another  %s\n", d.Second)
	}
	if d.Caller != "" {
		fmt.Fprintf(&b, "  caller   %s\n", d.Caller)
	}
	fmt.Fprintf(&b, "\nTry, in another terminal:\n\n")
	fmt.Fprintf(&b, "  export PARLEY_URL=%s PARLEY_API_KEY=%s\n", web, d.Key)
	fmt.Fprintf(&b, "  bin/parley talk --agent %s --in testdata/speech/opening-hours.wav --out answer.wav\n", d.Agent)
	if sipAddr != "" {
		fmt.Fprintf(&b, "  bin/parley phone sip:%s@%s --in testdata/speech/opening-hours.wav --out answer.wav\n", d.Number, Local(sipAddr))
		if d.Caller != "" {
			fmt.Fprintf(&b, "  bin/parley dial --from %s --to +12025550105 --agent %s --consent --follow\n", d.Number, d.Caller)
		}
		fmt.Fprintf(&b, "  a softphone on this machine: call sip:%s@%s\n", d.Number, Local(sipAddr))
	}
	b.WriteByte('\n')
	return b.String()
}

// Local is how this machine reaches an address that listens everywhere.
func Local(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
