package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/api/apitest"
	"parley/api/denoise"
	"parley/api/export"
	"parley/api/ticket"
	"parley/api/wallet"
	"parley/api/webhook"
	"parley/billing"
	"parley/media"
	"parley/media/wav"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/store"
	"parley/store/bus"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/ledger"
	"parley/store/mail"
	"parley/store/mail/mailtest"
	"parley/store/people"
	"parley/store/storetest"
	webhookstore "parley/store/webhook"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// patience only bounds a hang; nothing here asserts how long something takes.
const patience = 20 * time.Second

// post is what a node has to notify accounts, the routes that show it, a mail server, and an
// account with an address and a key, which has its welcome credit.
type post struct {
	*testing.T
	db       *store.DB
	bus      *bus.Bus
	calls    *session.Manager
	hooks    *webhookstore.Store
	webhooks *Webhooks
	warnings *Warnings
	server   *httptest.Server
	mails    *mailtest.Server // nil: the server knows none
	log      logged
	url      string // of the database

	account, key string
}

// logged keeps what is logged.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const mailPassword = "correct horse"

// callBooks are the database, its ledger and the history of calls.
type callBooks struct {
	*store.DB
	*ledger.Ledger
	*history.Store
}

// books charge for work without a call.
type books struct{ *session.Manager }

// Begin implements api.Books.
func (b books) Begin(ctx context.Context, p api.Principal, j api.Job) (api.Work, error) {
	return b.Work(ctx, session.Order{Account: p.Account, Key: p.Key, Kind: j.Kind, Expected: j.Expected})
}

// line is a queue of jobs as the store fills it.
type line struct{ *jobs.Queue }

// Enqueue implements store.Enqueuer.
func (l line) Enqueue(ctx context.Context, tx pgx.Tx, job store.Job, account, id string) error {
	switch job {
	case store.DeliverEvents:
		return EnqueueDeliveries(ctx, tx, l.Queue)
	case store.SendWarnings:
		return EnqueueWarnings(ctx, tx, l.Queue)
	}
	return nil
}

// newPost runs the jobs only if they are wanted: a test that does not calls them itself.
// Webhooks may lead to the hosts that are allowed.
func newPost(t *testing.T, withMail, withJobs bool, allowed ...string) *post {
	t.Helper()
	o := &post{T: t, url: storetest.URL(t)}
	o.db = storetest.Open(t, o.url)
	log := slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	now := time.Now()
	o.ok(o.db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	life, _, err := ledger.New(o.db).RegisterNode(t.Context(), "node-0", "127.0.0.1:1")
	o.ok(err)
	o.bus, err = bus.Open(t.Context(), bus.Config{Name: "node-0", Log: log})
	o.ok(err)
	guard, err := tool.NewGuard(allowed, nil)
	o.ok(err)
	vault, err := people.NewVault(o.db, "a master secret of a test, long enough")
	o.ok(err)
	o.hooks = webhookstore.New(o.db, vault)
	o.calls = session.NewManager(callBooks{o.db, ledger.New(o.db), history.New(o.db)}, life, o.db.RateCard, 0, log)
	o.webhooks = &Webhooks{Deliveries: o.hooks, Poster: guard.Poster(), Now: o.db.Now, Log: log,
		Body: func(ctx context.Context, d *webhookstore.DueDelivery) ([]byte, error) {
			return webhook.Body(ctx, o.db, d)
		}}
	o.warnings = &Warnings{Store: o.db, Publish: o.bus.Publish, Log: log}
	if withMail {
		o.mails = mailtest.Start(t, mailtest.Options{User: "ana", Password: mailPassword})
		o.warnings.Mail, err = mail.Parse("smtp://ana:" + strings.ReplaceAll(mailPassword, " ", "%20") + "@" + o.mails.Addr + "?from=parley@example.com")
		o.ok(err)
	}
	queue := jobs.New(log)
	o.webhooks.Handle(queue)
	o.warnings.Handle(queue)
	o.ok(queue.Open(t.Context(), o.url))
	o.db.UseQueue(line{queue})

	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.ok(err)
	a := api.New(ticket.Keys{Signer: signer, Store: o.db, People: people.New(o.db)})
	wallet.Mount(a, o.db, export.New(o.db), o.db.RateCard)
	webhook.Mount(a, o.db, o.hooks, guard.Poster().Check)
	denoise.Mount(a, books{o.calls})
	o.server = httptest.NewServer(a.Handler(api.Options{Log: log}))

	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	runs := []func(context.Context) error{o.calls.Run}
	if withJobs {
		runs = append(runs, queue.Run)
	}
	for _, run := range runs {
		parts.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		o.server.Close()
		stop()
		parts.Wait()
		queue.Close()
		o.bus.Close()
		if strings.Contains(o.log.String(), mailPassword) || strings.Contains(o.log.String(), "correct%20horse") {
			t.Error("a password is in the log")
		}
	})
	acc, err := ledger.New(o.db).CreateAccount(t.Context(), "Casa Lola", o.db.RateCard())
	o.ok(err)
	to := "lola@example.com"
	o.ok(ledger.New(o.db).ChangeAccount(t.Context(), acc.ID, ledger.AccountChange{Email: &to}))
	_, o.key, err = people.New(o.db).MakeKey(storetest.At(t.Context(), now), people.NewKey{Account: acc.ID, Name: "first", Role: people.RoleMember})
	o.ok(err)
	o.account = acc.ID
	return o
}

func (o *post) ok(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// ask sends a request and reads the answer, which is held to the document.
func (o *post) ask(method, path, contentType string, body []byte, into any) {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), method, o.server.URL+path, bytes.NewReader(body))
	o.ok(err)
	r.Header.Set("Authorization", "Bearer "+o.key)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	res, err := apitest.Client(o, apitest.Published(o)).Do(r)
	o.ok(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		o.Fatalf("%s %s: %s", method, path, res.Status)
	}
	if into != nil {
		o.ok(json.NewDecoder(res.Body).Decode(into))
	}
}

// notice is what tests read of one, wherever it is told.
type notice struct {
	ID, Kind, Message string
	Data              struct{ Balance, Threshold *billing.Money }
	Since             *time.Time
	CreatedAt         *time.Time `json:"created_at"`
	ClearedAt         *time.Time `json:"cleared_at"`
}

func (o *post) events() []notice {
	o.Helper()
	var list struct{ Data []notice }
	o.ask("GET", "/v1/events", "", nil, &list)
	return list.Data
}

func (o *post) banner() []notice {
	o.Helper()
	var b struct{ Warnings []notice }
	o.ask("GET", "/v1/balance", "", nil, &b)
	return b.Warnings
}

// eventually waits until something holds.
func (o *post) eventually(what string, holds func() bool) {
	o.Helper()
	for end := time.Now().Add(3 * patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			o.Fatalf("%s does not happen\n%s", what, o.log.String())
		}
	}
}

// sql changes the database behind the node's back.
func (o *post) sql(text string) {
	o.Helper()
	conn, err := pgx.Connect(o.Context(), o.url)
	o.ok(err)
	defer conn.Close(o.Context())
	_, err = conn.Exec(o.Context(), text)
	o.ok(err)
}

// TestWarningsReachTheirAccount: a balance is used up over HTTP, and its owner reads of
// it in the list, in the banner, on the bus and by mail, once each.
func TestWarningsReachTheirAccount(t *testing.T) {
	o := newPost(t, true, true)
	subject, err := bus.Events(o.account)
	o.ok(err)
	news, err := o.bus.Subscribe(t.Context(), subject)
	o.ok(err)
	defer news.Close()
	// A command has no queue: what it notices is told by the next round.
	commands := ledger.New(storetest.Open(t, o.url))
	o.ok(commands.OpenDispute(t.Context(), o.account, "dp_1"))
	o.ok(commands.ResolveDispute(t.Context(), o.account, "dp_1"))
	other, err := commands.CreateAccount(t.Context(), "Without an address", o.db.RateCard())
	o.ok(err)
	o.ok(commands.OpenDispute(t.Context(), other.ID, "dp_2"))

	if list := o.banner(); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	var second bytes.Buffer
	o.ok(wav.Encode(&second, wav.Clip{Rate: media.Rate8k, Samples: make([]int16, 8000)}))
	o.ask("POST", "/denoise", "audio/wav", second.Bytes(), nil)

	var low notice
	o.eventually("an event", func() bool {
		for _, e := range o.events() {
			if e.Kind == "balance.low" {
				low = e
			}
		}
		return low.ID != ""
	})
	if low.Data.Balance == nil || *low.Data.Balance >= 5*billing.USD || *low.Data.Threshold != 5*billing.USD || low.ClearedAt != nil ||
		low.Message != "The balance has fallen to 4.99 USD, below 5 USD: top up soon." {
		t.Errorf("%+v", low)
	}
	if list := o.banner(); len(list) != 1 || list[0].Kind != "balance.low" || list[0].Message != "The balance is 4.99 USD: top up soon." ||
		list[0].Since == nil || !list[0].Since.Equal(*low.CreatedAt) || *list[0].Data.Threshold != 5*billing.USD {
		t.Errorf("%+v", list)
	}
	kinds := map[string]string{} // on the bus, by identifier
	for len(kinds) < 2 {
		m, err := news.Next(t.Context())
		o.ok(err)
		var e notice
		o.ok(json.Unmarshal(m.Payload, &e))
		if kinds[e.ID] != "" {
			t.Errorf("told twice: %s", m.Payload)
		}
		kinds[e.ID] = e.Kind
	}
	if kinds[low.ID] != "balance.low" {
		t.Errorf("%v on the bus, but not %s", kinds, low.ID)
	}
	o.eventually("the mail", func() bool { return len(o.mails.Mails()) > 0 })
	o.ask("POST", "/denoise", "audio/wav", second.Bytes(), nil)
	o.eventually("the end of all mail", func() bool {
		_, err := o.db.ClaimMail(t.Context())
		return err != nil
	})
	mails := o.mails.Mails()
	if len(mails) != 1 { // and none of a dispute that is over, or for nobody
		t.Fatalf("%d mails: %+v", len(mails), mails)
	}
	if m := mails[0]; m.To != "lola@example.com" || m.Subject() != "Parley: Your balance is low" || !strings.HasPrefix(m.Text, low.Message+"\n") ||
		!strings.Contains(m.Text, "Account: Casa Lola ("+o.account+")\n") || m.Header.Get("Message-Id") != "<"+low.ID+"@example.com>" {
		t.Errorf("%+v", m)
	}
	if list := o.events(); len(list) != 2 {
		t.Errorf("%+v", list)
	}
}

// mail has what is due mailed now.
func (o *post) mail() {
	o.Helper()
	o.sql("update warnings set mail_at = created_at where mail_at is not null")
	o.ok(o.warnings.mail(o.Context(), mailWarnings{}))
}

// TestMailIsTriedAgain after what may pass, and never after a refusal.
func TestMailIsTriedAgain(t *testing.T) {
	o := newPost(t, true, false)
	dispute := func(ref string) { o.ok(ledger.New(o.db).OpenDispute(t.Context(), o.account, ref)) }
	said := func(line string, n int) {
		t.Helper()
		if got := strings.Count(o.log.String(), line); got != n {
			t.Errorf("%q was said %d times, want %d:\n%s", line, got, n, o.log.String())
		}
	}
	const again, givenUp = "could not be mailed and is tried again", "cannot be mailed and is given up"

	dispute("dp_1")
	o.mails.Say("RCPT", "451 later")
	o.mails.Say(".", "452 full")
	o.ok(o.warnings.mail(t.Context(), mailWarnings{}))
	said(again, 1)
	// It waits: nothing happens before its time.
	o.ok(o.warnings.mail(t.Context(), mailWarnings{}))
	said(again, 1)
	o.mail()
	said(again, 2)
	if n := len(o.mails.Mails()); n != 0 {
		t.Fatalf("%d mails", n)
	}
	o.mail()
	o.mail()
	said(again, 2)
	if n := len(o.mails.Mails()); n != 1 {
		t.Fatalf("%d mails", n)
	}

	dispute("dp_2")
	o.mails.Say("RCPT", "550 nobody")
	o.mail()
	said(givenUp, 1)
	o.mail()
	if n := len(o.mails.Mails()); n != 1 {
		t.Errorf("%d mails after a refusal", n)
	}

	// Somebody dies between the server's answer and the note of it: the same mail
	// comes again, under its name.
	dispute("dp_3")
	m, err := o.db.ClaimMail(t.Context())
	o.ok(err)
	o.ok(o.warnings.Mail.Send(t.Context(), letter(m)))
	o.mail()
	mails := o.mails.Mails()
	if len(mails) != 3 || mails[1].Header.Get("Message-Id") != mails[2].Header.Get("Message-Id") || mails[1].Raw != mails[2].Raw {
		t.Errorf("%+v", mails)
	}

	// A mail server that is away for a day is waited for no longer.
	dispute("dp_4")
	o.sql("update warnings set created_at = created_at - interval '25 hours', mail_at = mail_at - interval '25 hours' where mail_at is not null")
	o.mail()
	said("are given up", 1)
	if n := len(o.mails.Mails()); n != 3 {
		t.Errorf("%d mails", n)
	}
}

// TestMailWaitsForRecharge: a low balance that automatic recharge mends is not mailed,
// and one that it does not mend is.
func TestMailWaitsForRecharge(t *testing.T) {
	o := newPost(t, true, false)
	spend := func(key string) {
		o.Helper()
		_, _, err := ledger.New(o.db).Credit(t.Context(), ledger.Credit{Account: o.account, Kind: ledger.Adjustment, Amount: -6 * billing.USD, Key: key})
		o.ok(err)
	}
	o.sql("update wallets set recharge_below_nano = 5000000000")
	for i := range 2 {
		spend(fmt.Sprint("down", i))
		o.mail()
		if n := len(o.mails.Mails()); n != 0 {
			t.Fatalf("%d mails", n)
		}
		if i == 0 {
			_, _, err := ledger.New(o.db).Credit(t.Context(), ledger.Credit{Account: o.account, Kind: ledger.Topup, Amount: 10 * billing.USD, Key: "pi:1", Source: "sim"})
			o.ok(err)
			o.mail()
		}
	}
	o.sql("update warnings set created_at = created_at - interval '11 minutes'")
	o.mail()
	if mails := o.mails.Mails(); len(mails) != 1 || mails[0].Subject() != "Parley: Your balance is low" {
		t.Errorf("%+v", mails)
	}
}

// TestWithoutMailServer nothing waits for ever, and all else is as it was.
func TestWithoutMailServer(t *testing.T) {
	o := newPost(t, false, false)
	o.ok(ledger.New(o.db).OpenDispute(t.Context(), o.account, "dp_1"))
	o.ok(o.warnings.mail(t.Context(), mailWarnings{}))
	o.ok(o.warnings.publish(t.Context(), publishWarnings{}))
	if list := o.banner(); len(list) != 1 || list[0].Kind != "dispute.opened" {
		t.Errorf("%+v", list)
	}
	o.sql("update warnings set created_at = created_at - interval '25 hours', mail_at = mail_at - interval '25 hours'")
	o.ok(o.warnings.mail(t.Context(), mailWarnings{}))
	if m, err := o.db.ClaimMail(storetest.At(t.Context(), time.Now().AddDate(1, 0, 0))); err == nil {
		t.Errorf("it waits: %+v", m)
	}
	if strings.Contains(o.log.String(), "given up") {
		t.Errorf("a server without mail complains:\n%s", o.log.String())
	}
}

// TestNamesInMails: the name of an account adds no lines to the server's text.
func TestNamesInMails(t *testing.T) {
	m := &store.WarningMail{Name: "Casa\r\n\r\nYour account is closed. Pay at\u2028https://evil.example\x00 " + strings.Repeat("x", 200)}
	m.Account, m.Kind = "acc_1", store.WarnBalanceLow
	text := letter(m).Text
	if _, line, _ := strings.Cut(text, "\nAccount: "); !strings.HasPrefix(line, "Casa Your account is closed. Pay at https://evil.example xxx") ||
		!strings.Contains(line, "… (acc_1)\nNoticed: ") || strings.ContainsAny(line, "\r\x00\u2028") || strings.Count(text, "\n") != 4 {
		t.Errorf("%q", text)
	}
}
