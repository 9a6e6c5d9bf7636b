package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/tool/crm"
)

// CRMSource is the customer database of an agent: one that it names, or the
// operator's.
type CRMSource struct {
	// Provider is rest or hubspot; empty: the operator's database.
	Provider string `json:"provider,omitempty"`
	URL      string `json:"url,omitempty"`     // its base address; may be empty for hubspot
	APIKey   string `json:"api_key,omitempty"` // {{secret.NAME}}
	// Lookup and LogCalls are on unless they are false.
	Lookup   *bool `json:"lookup,omitempty"`    // offer crm_lookup to the model
	LogCalls *bool `json:"log_calls,omitempty"` // note telephone calls when they are over
}

// Logs says whether telephone calls are noted in the database.
func (s *CRMSource) Logs() bool { return s.LogCalls == nil || *s.LogCalls }

// lookupName is the function's name.
const lookupName = "crm_lookup"

var lookupSpec = inference.Tool{
	Name:        lookupName,
	Description: "Look up who has a telephone number in the customer database. Without a number it looks up the person on the line.",
	Parameters:  []byte(`{"type":"object","properties":{"phone":{"type":"string","description":"The number with its country code, such as +34910000001."}}}`),
}

func (f *form) crm(path string) (Definition, error) {
	if err := f.bare(path); err != nil {
		return Definition{}, err
	}
	s := f.CRM
	if s == nil {
		s = &CRMSource{}
	}
	path += ".crm"
	switch {
	case s.Provider == "" && (s.URL != "" || s.APIKey != ""):
		return Definition{}, fault(path+".provider", "is missing: rest or hubspot")
	case s.Provider != "" && s.Provider != crm.REST && s.Provider != crm.HubSpot:
		return Definition{}, fault(path+".provider", "must be rest or hubspot")
	case s.Provider == crm.REST && s.URL == "":
		return Definition{}, fault(path+".url", "is missing")
	case s.APIKey != "" && reference.FindString(s.APIKey) != s.APIKey:
		return Definition{}, fault(path+".api_key", "must be {{secret.NAME}}: keys are kept with the account's secrets")
	case strings.ContainsAny(s.URL, "{}?"):
		return Definition{}, fault(path+".url", "must be a plain base address")
	}
	if s.URL != "" {
		if err := checkURL(path+".url", s.URL); err != nil {
			return Definition{}, err
		}
	}
	return Definition{Kind: CRMKind, Spec: lookupSpec, CRM: s, Cancel: true}, nil
}

// ErrNoCRM: the agent names no database and the operator has none.
var ErrNoCRM = errors.New("no customer database is configured")

// Database is the customer database that an agent's definition means. Its errors
// name no secret.
func (p *Provider) Database(ctx context.Context, account string, s *CRMSource) (crm.CRM, error) {
	return p.database(s, secretsFor(s.address(), p.secrets(ctx, account, []Definition{{CRM: s}})))
}

// address is where the database is.
func (s *CRMSource) address() string { return cmp.Or(s.URL, crm.HubSpotAddress) }

func (p *Provider) database(s *CRMSource, secrets map[string]string) (crm.CRM, error) {
	if s.Provider == "" {
		if p.CRM == nil {
			return nil, ErrNoCRM
		}
		return p.CRM, nil
	}
	key, err := expand(s.APIKey, secrets)
	if err != nil {
		return nil, err
	}
	return crm.New(s.Provider, strings.TrimRight(s.URL, "/"), key, p.client)
}

// NewCRM returns the operator's customer database, which may be anywhere.
func NewCRM(kind, address, key string) (crm.CRM, error) {
	return crm.New(kind, address, key, trusted())
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// lookup makes crm_lookup.
func (p *Provider) lookup(who Who, s *CRMSource, secrets map[string]string) []Function {
	if s.Lookup != nil && !*s.Lookup || s.Provider == "" && p.CRM == nil {
		return nil
	}
	return []Function{{Spec: lookupSpec, Timeout: defaultTimeout, Cancel: true, Meter: CRM,
		Run: func(ctx context.Context, raw json.RawMessage) (string, error) {
			var ask struct {
				Phone string `json:"phone"`
			}
			if len(raw) > 0 && json.Unmarshal(raw, &ask) != nil {
				return "", errors.New("the arguments are not a JSON object")
			}
			number := strings.Map(func(r rune) rune {
				if strings.ContainsRune(" -.()", r) {
					return -1
				}
				return r
			}, ask.Phone)
			if number == "" {
				number = who.Other
			}
			if !e164.MatchString(number) {
				return "", errors.New("a telephone number with its country code is needed; that of the caller is not known")
			}
			db, err := p.database(s, secrets)
			if err != nil {
				return "", err
			}
			contact, err := db.Contact(ctx, number)
			switch {
			case errors.Is(err, crm.ErrNoContact):
				return `{"found":false}`, nil
			case err != nil:
				return "", explainCRM(ctx, err)
			}
			b, err := plainJSON(struct {
				Found   bool         `json:"found"`
				Contact *crm.Contact `json:"contact"`
			}{true, contact})
			return string(b), err
		}}}
}

// explainCRM describes a failure to the model.
func explainCRM(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*crm.StatusError](err); ok {
		return errors.New("the customer database refused the request")
	}
	return explain(ctx, err)
}

// Note sends a note about a call that has ended to a customer database. again says that an
// earlier attempt may have arrived. The error may be logged.
func (p *Provider) Note(ctx context.Context, account string, s *CRMSource, call crm.Call, again bool) error {
	db, err := p.Database(ctx, account, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err = db.Log(ctx, call, again)
	if status, ok := errors.AsType[*crm.StatusError](err); ok {
		return status
	}
	if err != nil {
		return explain(ctx, err)
	}
	return nil
}

// noteTime bounds all requests of one note.
const noteTime = 20 * time.Second
