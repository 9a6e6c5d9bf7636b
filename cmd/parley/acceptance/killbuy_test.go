package acceptance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
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

// TestSoakKilledPurchases also leaves a purchase to the server that comes after, which
// takes it up when the one that died has had its time.
func TestSoakKilledPurchases(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
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
		if leave { // what nobody asks for again is kept, or comes to nothing
			b := openBooks(t, s)
			for end := time.Now().Add(5 * time.Minute); b.numbersIn(who, "ordering") > 0; time.Sleep(time.Second) {
				if time.Now().After(end) {
					t.Fatal("an order was forgotten")
				}
			}
			b.close()
		}
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
	eventually(t, "an order is in progress", func() bool { return b.numbersIn(who, "ordering", "ordered") > 0 })
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

// numbersIn counts the bought numbers of an account in some states.
func (b *books) numbersIn(who customer, states ...string) (n int) {
	b.t.Helper()
	if err := b.sql.QueryRow(b.ctx, "select count(*) from numbers where account_id = $1 and carrier <> '' and state = any($2)", who.account, states).Scan(&n); err != nil {
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

// checkPurchases wants each number that the account has charged once, and nothing else.
func checkPurchases(t *testing.T, s *server, who customer, price billing.Money, total int, fewer bool) {
	t.Helper()
	b := openBooks(t, s)
	defer b.close()
	var have, charged int
	err := b.sql.QueryRow(b.ctx, `select count(*) filter (where state in ('ordered', 'owned')),
			(select count(*) from ledger_transfers where account_id = $1 and credit = 'revenue:number')
			- (select count(*) from ledger_transfers where account_id = $1 and debit = 'revenue:number')
		from numbers where account_id = $1 and carrier <> ''`, who.account).Scan(&have, &charged)
	if err != nil {
		t.Fatal(err)
	}
	a, err := b.db.Account(b.ctx, who.account)
	if err != nil {
		t.Fatal(err)
	}
	if have != charged || have > total || have < total && !fewer {
		t.Errorf("%d numbers, %d charged, of %d", have, charged, total)
	}
	if want := 1000*billing.USD - billing.Money(have)*price; a.Pots.Paid != want || a.Pots.Held != 0 {
		t.Errorf("%+v, want %s", a.Pots, want)
	}
	checkBooks(t, s.dir)
}
