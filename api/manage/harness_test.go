package manage_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/ticket"
	"parley/api/tts"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// office is a world with the routes.
type office struct {
	*apitest.World
	signer *ticket.Signer
	log    logged
	vendor apitest.Vendors
}

type (
	owner = apitest.Owner
	reply = apitest.Reply
)

func open(t *testing.T) *office {
	t.Helper()
	o := &office{World: apitest.Open(t, apitest.Options{Agent: "Ana"})}
	var err error
	o.signer, err = ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	a := api.New(ticket.Keys{Signer: o.signer, Store: o.DB, People: o.People})
	a.Remember(o.DB)
	ticket.Mount(a, o.signer, o.DB, nil)
	manage.Mount(a, o.DB, export.New(o.DB), fakeDefinition)
	manage.MountAccount(a, o.DB, billing.DefaultRateCard, 50)
	vault, err := people.NewVault(o.DB, "a master key of at least 32 characters")
	o.OK(err)
	manage.MountSecrets(a, vault)
	manage.MountFunctions(a, fakeTest)
	manage.MountEngineKeys(a, people.NewEngineKeys(vault), &o.vendor)
	manage.MountPeople(a, o.People, func(token string) string { return "https://voice.example.com/app/invitation?token=" + token })
	o.Serve(a, api.Options{Log: slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	return o
}

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
			Metadata                      wire.MetadataChange
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
		if given.Metadata != nil {
			a.Metadata = given.Metadata.Apply(a.Metadata)
		}
		a.Voice, a.Language = tts.Voice(a.Voice), tts.Language(a.Language)
		for to, from := range map[*json.RawMessage]json.RawMessage{&a.Tools: given.Tools, &a.Settings: given.Settings} {
			if len(from) > 0 && string(from) != "null" {
				*to = from
			}
		}
		return nil
	},
}

// json reads the answer's body.
func (o *office) json(r reply) map[string]any {
	o.Helper()
	out := map[string]any{}
	if err := json.Unmarshal(r.Body, &out); err != nil {
		o.Errorf("%s: %v", r.Body, err)
	}
	return out
}

// ticket of A's key.
func (o *office) ticket(t api.Ticket) string {
	if t.Expires.IsZero() {
		t.Expires = time.Now().Add(time.Minute)
	}
	return o.signer.Sign(api.Principal{Account: o.A.Account, Key: o.A.KeyID, Ticket: &t})
}
