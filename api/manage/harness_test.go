package manage_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/talk"
	"parley/api/ticket"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// office is a server with the routes, and account A with a key and an agent.
type office struct {
	*testing.T
	db     *store.DB
	signer *ticket.Signer
	server *httptest.Server
	log    logged
	sent   atomic.Uint32

	a, b owner
}

// owner is an account with one of everything.
type owner struct{ account, key, keyID, agent string }

// logged keeps what a server says.
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

var card = billing.DefaultRateCard()

func open(t *testing.T) *office {
	t.Helper()
	o := &office{T: t, db: storetest.New(t)}
	var err error
	if o.signer, err = ticket.NewSigner("a master secret of a test, long enough"); err != nil {
		t.Fatal(err)
	}
	if err := o.db.PutRateCard(t.Context(), card, time.Now()); err != nil {
		t.Fatal(err)
	}
	o.a, o.b = o.owner("A"), o.owner("B")
	a := api.New(ticket.Keys{Signer: o.signer, Store: o.db, People: people.New(o.db)})
	ticket.Mount(a, o.signer, o.db)
	manage.Mount(a, o.db, export.New(o.db), fakeDefinition)
	vault, err := people.NewVault(o.db, "a master key of at least 32 characters")
	if err != nil {
		t.Fatal(err)
	}
	manage.MountSecrets(a, vault)
	manage.MountPeople(a, people.New(o.db), func(token string) string { return "https://voice.example.com/app/invitation?token=" + token })
	h := a.Handler(api.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Log: slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	o.server = httptest.NewServer(apitest.Judged(t, a, h))
	t.Cleanup(o.server.Close)
	return o
}

// fakeDefinition stands for what conversations make of agents: it takes the members as
// they come, and two words are forbidden.
var fakeDefinition = manage.Definition{
	New:    func() store.Agent { return store.Agent{Voice: "F1", Language: "en"} },
	Schema: json.RawMessage(`{"type":"object"}`),
	Apply: func(a *store.Agent, document json.RawMessage) error {
		switch {
		case !bytes.HasPrefix(document, []byte("{")):
			return api.Detail(api.ErrBadRequest, "body: must be an object")
		case bytes.Contains(document, []byte("forbidden")):
			return api.Detail(api.ErrBadRequest, "settings.goodbye: is forbidden")
		case bytes.Contains(document, []byte("ftp://")):
			return api.Detail(api.ErrBadRequest, "tools[0].http.url: must be an absolute https address")
		}
		var given struct {
			Name, Voice, Language, Prompt *string
			FirstMessage                  *string `json:"first_message"`
			Tools, Settings               json.RawMessage
		}
		if err := json.Unmarshal(document, &given); err != nil {
			return api.Detail(api.ErrBadRequest, err.Error())
		}
		for to, from := range map[*string]*string{&a.Name: given.Name, &a.Voice: given.Voice, &a.Language: given.Language,
			&a.Prompt: given.Prompt, &a.FirstMessage: given.FirstMessage} {
			if from != nil {
				*to = *from
			}
		}
		a.Voice, a.Language = talk.Voice(a.Voice), talk.Language(a.Language)
		for to, from := range map[*json.RawMessage]json.RawMessage{&a.Tools: given.Tools, &a.Settings: given.Settings} {
			if len(from) > 0 && string(from) != "null" {
				*to = from
			}
		}
		return nil
	},
}

func (o *office) owner(name string) owner {
	o.Helper()
	now, ctx := time.Now(), o.Context()
	acc, err1 := ledger.New(o.db).CreateAccount(ctx, name, card, now)
	if err1 != nil {
		o.Fatal(err1)
	}
	key, secret, err2 := people.New(o.db).MakeKey(storetest.At(ctx, now), people.NewKey{Account: acc.ID, Name: "first", Role: people.RoleMember})
	agent, err3 := o.db.CreateAgent(ctx, acc.ID, store.Agent{Name: "Ana", Voice: "F1", Language: "es"}, now)
	if err := errors.Join(err2, err3); err != nil {
		o.Fatal(err)
	}
	return owner{acc.ID, secret, key.ID, agent.ID}
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// json reads the answer's body.
func (o *office) json(r reply) map[string]any {
	o.Helper()
	out := map[string]any{}
	if err := json.Unmarshal(r.body, &out); err != nil {
		o.Errorf("%s: %v", r.body, err)
	}
	return out
}

// send makes a request; header is name, value and so on.
func (o *office) send(method, target, body string, header ...string) reply {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), method, o.server.URL+target, bytes.NewReader([]byte(body)))
	if err != nil {
		o.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	// Whose attempts fail too often is barred: each comes from an address of its own.
	r.Header.Set("X-Forwarded-For", netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, o.sent.Add(1)))).String())
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := o.server.Client().Do(r)
	if err != nil {
		o.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		o.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, text}
}

// as sends with a key.
func (o *office) as(who owner, method, target, body string, header ...string) reply {
	o.Helper()
	return o.send(method, target, body, append(header, "Authorization", "Bearer "+who.key)...)
}

// want checks a status and, of an error, its code.
func (o *office) want(what string, r reply, status int, code string) {
	o.Helper()
	var p struct{ Code string }
	_ = json.Unmarshal(r.body, &p) // not every answer has a body
	if r.status != status || p.Code != code {
		o.Errorf("%s: %d %.300s, want %d %s", what, r.status, r.body, status, code)
	}
}

// ticket of A's key.
func (o *office) ticket(t api.Ticket) string {
	if t.Expires.IsZero() {
		t.Expires = time.Now().Add(time.Minute)
	}
	return o.signer.Sign(api.Principal{Account: o.a.account, Key: o.a.keyID, Ticket: &t})
}
