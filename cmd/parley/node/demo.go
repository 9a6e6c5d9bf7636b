package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// Demo is the demonstration account and what belongs to it.
//
// Its calls took place once, elsewhere: they were made on a server with the embedded engines,
// over real SIP and RTP (TestRecordDemonstration makes them again), and lie in the program with
// their sound, signalling and usage. Making them at the start would take a minute, load a slow
// machine that is being looked at for the first time, and cost money where a model is remote. A
// start enters them by the functions that enter any call, each in one transaction with its
// charge and its row of the batch, under a name that an account has once, so the next start
// completes one that was killed. They are marked (demonstration), no webhook reports them,
// nobody consented because nobody was called, and a recording that was deleted stays deleted.
// The batch is entered paused. 20 dollars beside the welcome credit are a top-up, because the
// welcome credit pays for neither numbers nor outbound calls; no provider was asked for it, so
// nothing of it can be refunded and no card counts as saved.
type Demo struct {
	Account, Agent, Number, Key string
	// Caller is the agent that calls people; empty: the server has no simulated carrier.
	Caller string
	// Second is a number in another country; empty: the server has no simulated carrier.
	Second string
}

// What the demonstration consists of. Seeding it again changes nothing: its
// pieces are found by these names.
const (
	demoAccount = "Demonstration"
	demoNumber  = "+34911234567"
	demoSecond  = "+12025550143"
	demoTopup   = 20 // US dollars
)

// DemoKeyFile is where the demonstration's API key is, in the data directory.
const DemoKeyFile = "demo-key"

var demoAgent = store.Agent{
	Name: "Lola", Voice: "F1", Language: "en",
	FirstMessage: "Casa Lola, good day. How can I help you?",
	Prompt: `You answer the telephone of Casa Lola, a restaurant. Be brief and friendly.
We are open Monday to Friday from nine in the morning to six in the evening, and Saturday from ten to two. On Sunday we are closed.
We are at twelve Market Street, next to the station.
A table for lunch can be booked for up to eight people.
The menu of the day costs fifteen dollars.
You can park behind our house.`,
	Settings: []byte(`{"phrases":["what time do you open on Monday","when do you open","what time do you close","are you open on Saturday","are you open on Sunday","where are you","what is your address","how much is the menu","what does the menu of the day cost","I would like to book a table for two","can I book a table","where can I park","is there parking","thank you","goodbye"]}`),
}

// demoCaller calls people. What it expects to hear is what the people of the simulated
// carrier say.
var demoCaller = store.Agent{
	Name: "Rita", Voice: "F2", Language: "en",
	FirstMessage: "Good day, this is Casa Lola. Do I speak to the guest who booked a table for tomorrow?",
	Prompt: `You call guests of Casa Lola, a restaurant, the day before they come. Be brief and friendly.
When the caller says "yes that is me", "yes", "speaking": Your table for two is booked for tomorrow at eight in the evening. Does that still work for you?
When the caller says "that works for me thank you", "that works", "yes it does": Wonderful. We look forward to seeing you.
When the caller says "no", "that does not work", "wrong number": I am sorry. Please call us back, and we will find another day.
When nothing matches: Could you tell me whether tomorrow at eight still works for you?`,
	Settings: []byte(`{"phrases":["hello","yes that is me","speaking","who is this","that works for me thank you","yes that works","no that does not work","wrong number","thank you","goodbye"]}`),
}

// Seed sets up the demonstration, or finds it, and adds what is missing of it. Its API
// key is kept in the data directory, because the store keeps only hashes.
func (n *Node) Seed(ctx context.Context, dataDir string) (Demo, error) {
	now := n.db.Now()
	var d Demo
	var err error
	if d.Account, err = ledger.New(n.db).DemonstrationAccount(ctx, demoAccount, n.RateCard(), now); err != nil {
		return d, err
	}
	if err := ledger.New(n.db).TopUpDemonstration(ctx, d.Account, demoTopup*billing.USD, now); err != nil {
		return d, err
	}
	if err := n.seedAgents(ctx, &d, now); err != nil {
		return d, err
	}
	if err := n.seedNumbers(ctx, &d, now); err != nil {
		return d, err
	}
	if d.Key, err = n.seedKey(ctx, d.Account, filepath.Join(dataDir, DemoKeyFile), now); err != nil {
		return d, err
	}
	n.demo = d
	return d, n.seedHistory(ctx, d, now)
}

// seedAgents makes the agents, or finds them by their names.
func (n *Node) seedAgents(ctx context.Context, d *Demo, now time.Time) error {
	agents, err := n.db.Agents(ctx, d.Account, store.Page{})
	if err != nil {
		return err
	}
	wanted := map[*string]store.Agent{&d.Agent: demoAgent}
	if n.network != nil {
		wanted[&d.Caller] = demoCaller
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
		a, err := n.db.CreateAgent(ctx, d.Account, agent, now)
		if err != nil {
			return err
		}
		*id = a.ID
	}
	return nil
}

// seedNumbers gives the account its numbers. They cost nothing, as those that an operator
// adds by hand.
func (n *Node) seedNumbers(ctx context.Context, d *Demo, now time.Time) error {
	d.Number = demoNumber
	if n.network != nil {
		d.Second = demoSecond
	}
	for _, number := range []string{d.Number, d.Second} {
		if number == "" {
			continue
		}
		_, err := ledger.New(n.db).NumberByE164(ctx, d.Account, number)
		if errors.Is(err, store.ErrNotFound) {
			_, err = ledger.New(n.db).ImportNumber(ctx, d.Account, number, d.Agent, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seedKey returns the key that an earlier start left, while it is good.
func (n *Node) seedKey(ctx context.Context, account, path string, now time.Time) (string, error) {
	if b, err := os.ReadFile(path); err == nil {
		key := strings.TrimSpace(string(b))
		if p, err := people.New(n.db).Authenticate(ctx, key); err == nil && p.Account == account {
			return key, nil
		}
	}
	_, key, err := people.New(n.db).FirstKey(ctx, account, "demonstration", "")
	if err != nil {
		return "", err
	}
	return key, os.WriteFile(path, []byte(key+"\n"), 0o600)
}

// Guide says what to try, given a link to the pages and where HTTP (by scheme, http or
// https) and SIP listen.
func (d Demo) Guide(link, scheme, httpAddr, sipAddr string) string {
	var b strings.Builder
	web := scheme + "://" + local(httpAddr)
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
		fmt.Fprintf(&b, "  bin/parley phone sip:%s@%s --in testdata/speech/opening-hours.wav --out answer.wav\n", d.Number, local(sipAddr))
		if d.Caller != "" {
			fmt.Fprintf(&b, "  bin/parley dial --from %s --to +12025550105 --agent %s --consent --follow\n", d.Number, d.Caller)
		}
		fmt.Fprintf(&b, "  a softphone on this machine: call sip:%s@%s\n", d.Number, local(sipAddr))
	}
	b.WriteByte('\n')
	return b.String()
}

// local is how this machine reaches an address that listens everywhere.
func local(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
