package manage

import (
	"context"
	"net/http"
	"strings"
	"time"

	"parley/api"
	"parley/store/people"
)

// keys serves an account's API keys.
type keys struct{ people *people.Store }

var keyRoutes = managed("Keys")

func mountKeys(a *api.API, m keys) {
	api.Register(a, keyRoutes.Get("/v1/keys", "list-keys", "List the account's API keys",
		"Newest first, revoked ones too. A key itself is never shown again, only its last four characters."), m.list)
	api.Register(a, keyRoutes.Post("/v1/keys", "create-key", "Create an API key",
		"The answer is the only one that holds the key: keep it. With the role owner it may change who belongs to the account; with the mark "+
			"money, what is paid: automatic recharge and limits of spending. Only owners make such keys: by their sign-in, or by a key with "+
			"that role and, for keys with the mark, the mark.").Created(), m.create)
	api.Register(a, keyRoutes.Delete("/v1/keys/{id}", "revoke-key", "Revoke an API key",
		"It ends for good and at once, and with it every ticket that was made from it; what is in progress goes on. Revoking it again "+
			"changes nothing. The key that the request is made with may be revoked too: the next request needs another, which the "+
			"operator can make when none is left. Keys with the role owner or the mark money are revoked by themselves and by owners.", http.StatusNotFound), m.revoke)
}

// APIKey is a key as its owner sees it.
type APIKey struct {
	ID         string     `json:"id" doc:"Names the key in requests; it is no secret." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Role       string     `json:"role" doc:"What it may do: a member's key everything but people, an owner's people, too. What is paid has a mark of its own, money." enum:"member,owner"`
	Money      bool       `json:"money" doc:"Whether it may change what is paid: automatic recharge, limits of spending."`
	Name       string     `json:"name" doc:"What it is for." example:"website"`
	Last4      string     `json:"last4" doc:"The key's last four characters." example:"x7Qa"`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was made."`
	CreatedBy  *string    `json:"created_by" doc:"Identifier of the user, or of the account's key, that made it; null: it was made on the server, or before this was noted." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	MakerEmail *string    `json:"created_by_email" doc:"The user's address; null: it was no user, or they are gone." example:"ana@example.com"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"To the minute; null: never."`
	RevokedAt  *time.Time `json:"revoked_at" doc:"Null while it is good."`
}

func viewKey(k *people.Key) APIKey {
	v := APIKey{ID: k.ID, Role: k.Role, Money: k.Money, Name: k.Name, Last4: k.Last4, CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt}
	if k.Maker != "" {
		v.CreatedBy = &k.Maker
	}
	if k.MakerEmail != "" {
		v.MakerEmail = &k.MakerEmail
	}
	return v
}

// Keys are keys as their owner sees them.
func Keys(list []people.Key) []APIKey {
	out := make([]APIKey, len(list))
	for i := range list {
		out[i] = viewKey(&list[i])
	}
	return out
}

func (m keys) list(ctx context.Context, in *api.Paging) (*api.Listed[APIKey], error) {
	found, err := m.people.Keys(ctx, api.AccountOf(ctx), in.Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(k people.Key) string { return k.ID }, viewKey), nil
}

// createdKey is the only answer that holds a key.
type createdKey struct {
	APIKey
	Secret string `json:"api_key" doc:"The key itself, shown this once." example:"sk_4fZ…"`
}

type createdKeyOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         createdKey
}

type newKey struct {
	Name  string `json:"name" doc:"What it is for." minLength:"1" maxLength:"200" example:"website"`
	Role  string `json:"role,omitempty" doc:"What it may do." enum:"member,owner" default:"member"`
	Money bool   `json:"money,omitempty" doc:"Whether it may change what is paid: automatic recharge, limits of spending."`
}

// maxKeyName bounds a key's name, in bytes.
const maxKeyName = 200

func (m keys) create(ctx context.Context, in *struct{ Body newKey }) (*createdKeyOutput, error) {
	name := in.Body.Name
	if strings.TrimSpace(name) == "" || len(name) > maxKeyName || strings.ContainsRune(name, 0) {
		return nil, api.Bad("name: a key needs one of at most %d bytes, without zero characters", maxKeyName)
	}
	p := api.PrincipalOf(ctx)
	if in.Body.Role == people.RoleOwner && !p.Owner || in.Body.Money && !(p.Owner && p.Money) {
		return nil, api.ErrRole
	}
	k, secret, err := m.people.MakeKey(ctx, people.NewKey{Account: p.Account, Name: name, Role: in.Body.Role, Money: in.Body.Money, Maker: p.Maker()})
	if err != nil {
		return nil, err
	}
	return &createdKeyOutput{CacheControl: "no-store", Body: createdKey{viewKey(&k), secret}}, nil
}

func (m keys) revoke(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The key's identifier." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*struct{}, error) {
	p := api.PrincipalOf(ctx)
	k, err := m.people.Key(ctx, p.Account, in.ID)
	if err != nil {
		return nil, err
	}
	if (k.Role == people.RoleOwner || k.Money) && !p.Owner && k.ID != p.Key {
		return nil, api.ErrRole
	}
	return nil, m.people.RevokeKey(ctx, p.Account, k.ID)
}
