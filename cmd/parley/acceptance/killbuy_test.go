package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/billing"
)

// The whole server is killed while numbers are being bought.

// TestKilledPurchases is the short form of TestSoakKilledPurchases.
func TestKilledPurchases(t *testing.T) {
	t.Parallel()
	killPurchases(t, 2, false)
}

// TestSoakKilledPurchases also leaves a purchase of each round to the servers that come
// after, of which one takes it up when the one that died has had its time.
func TestSoakKilledPurchases(t *testing.T) {
	soak(t)
	killPurchases(t, 6, true)
}

// purchase is a request that may be sent again.
type purchase struct{ number, key string }

// bought is an answer to it.
type bought struct {
	status int
	ID     string
	Number string `json:"phone_number"`
	Status string
}

func (p purchase) send(web *http.Client, s *server, key string) (b bought, err error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+s.addrs["http"]+"/callcenter/numbers", strings.NewReader(fmt.Sprintf(`{"phone_number":%q}`, p.number)))
	if err != nil {
		return b, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", p.key)
	resp, err := web.Do(req)
	if err != nil {
		return b, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		b.status = resp.StatusCode
		err = json.Unmarshal(text, &b)
	}
	return b, err
}

func killPurchases(t *testing.T, rounds int, leave bool) {
	dir := newDataDir(t)
	s := serveLean(t, dir, nil)
	who := newCustomer(t, s, "1000")
	price := billing.DefaultRateCard().NumberPerMonth()
	total := 0
	for round := range rounds {
		// One that the carrier activates late, so that there is time to die, and two that it
		// does at once.
		var list []purchase
		for _, end := range []int{4, 1, 2} {
			number := fmt.Sprintf("+34%d0001%02d", []int{910, 930, 960, 954, 944, 976}[round%6], end)
			list = append(list, purchase{number, fmt.Sprintf("round %d, %d", round, end)})
		}
		total += len(list)
		s = killWhileBuying(t, s, who, list)
		if leave {
			list = list[1:]
		}
		for _, p := range list {
			first := sendAgain(t, s, who, p)
			if again := sendAgain(t, s, who, p); again.ID != first.ID {
				t.Errorf("%s was bought as %s and as %s", p.number, first.ID, again.ID)
			}
		}
		checkPurchases(t, s, who, price, total, leave)
	}
	if leave {
		// What nobody asks for again is kept, or comes to nothing. An order is left alone for
		// two minutes and looked for each minute, so this is waited for once, for all rounds.
		b := openBooks(t, s)
		for end := time.Now().Add(10 * time.Minute); b.ordering(who) > 0; time.Sleep(time.Second) {
			if time.Now().After(end) {
				t.Fatal("an order was forgotten")
			}
		}
		b.close()
		checkPurchases(t, s, who, price, total, leave)
	}
	s.stop(t)
}

// killWhileBuying kills the server when an order is in progress and returns its
// successor, for which the minute is over in which a request is left alone.
func killWhileBuying(t *testing.T, s *server, who customer, list []purchase) *server {
	t.Helper()
	b := openBooks(t, s)
	var all sync.WaitGroup
	for _, p := range list {
		all.Go(func() {
			if got, err := p.send(http.DefaultClient, s, who.key); err == nil { // most are cut off
				t.Logf("%s before the end: %+v", p.number, got)
			}
		})
	}
	eventually(t, "an order is in progress", func() bool { return b.inProgress(list) })
	s.kill()
	all.Wait()
	b.close()
	s = serveLean(t, s.dir, s.env)
	b = openBooks(t, s)
	defer b.close()
	if _, err := b.sql.Exec(b.ctx, "update idempotent_requests set begun_at = begun_at - interval '2 minutes' where status is null"); err != nil {
		t.Fatal(err)
	}
	return s
}

// inProgress says whether one of some purchases has begun and not ended.
func (b *books) inProgress(list []purchase) (yes bool) {
	b.t.Helper()
	var numbers []string
	for _, p := range list {
		numbers = append(numbers, p.number)
	}
	err := b.sql.QueryRow(b.ctx, "select exists (select from numbers where state in ('ordering', 'ordered') and e164 = any($1))", numbers).Scan(&yes)
	if err != nil {
		b.t.Fatal(err)
	}
	return yes
}

// ordering counts an account's numbers of which nobody has told yet what the carrier said.
func (b *books) ordering(who customer) (n int) {
	b.t.Helper()
	if err := b.sql.QueryRow(b.ctx, "select count(*) from numbers where account_id = $1 and state = 'ordering'", who.account).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// sendAgain repeats a request whose answer was lost, until there is one.
func sendAgain(t *testing.T, s *server, who customer, p purchase) (b bought) {
	t.Helper()
	eventually(t, "an answer about "+p.number, func() bool {
		var err error
		if b, err = p.send(client(t), s, who.key); err != nil {
			t.Fatal(err)
		}
		return b.status != http.StatusConflict // somebody works on it
	})
	if b.status != http.StatusOK && b.status != http.StatusAccepted || b.Number != p.number {
		t.Fatalf("%s: %+v", p.number, b)
	}
	return b
}

// checkPurchases wants each number that the account has charged once, what is ordered
// still held, and nothing else.
func checkPurchases(t *testing.T, s *server, who customer, price billing.Money, total int, fewer bool) {
	t.Helper()
	b := openBooks(t, s)
	defer b.close()
	var have, ordering, charged int
	var paid, held billing.Money
	// One statement, for the server may be about to settle an order.
	err := b.sql.QueryRow(b.ctx, `select count(*) filter (where n.state in ('ordered', 'owned')), count(*) filter (where n.state = 'ordering'),
			(select count(*) filter (where credit = 'revenue:number') - count(*) filter (where debit = 'revenue:number')
				from ledger_transfers where account_id = $1),
			w.paid_nano, w.held_nano
		from wallets w left join numbers n on n.account_id = w.account_id and n.carrier <> '' where w.account_id = $1
		group by w.account_id`, who.account).Scan(&have, &ordering, &charged, &paid, &held)
	if err != nil {
		t.Fatal(err)
	}
	if have != charged || have+ordering > total || !fewer && have < total {
		t.Errorf("%d numbers, %d ordered, %d charged, of %d", have, ordering, charged, total)
	}
	if want := 1000*billing.USD - billing.Money(have)*price; paid != want || held != billing.Money(ordering)*price {
		t.Errorf("%s paid, %s held; want %s and %d months", paid, held, want, ordering)
	}
	checkBooks(t, s.dir)
}
