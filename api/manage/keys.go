package manage

import (
	"context"
	"net/http"
	"strings"

	"parley/api"
	"parley/api/wire"
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
			"that role and, for keys with the mark, the mark. With the mark listen it may listen in on calls, with the mark speak it may speak in them, too; owners make such keys.").Created().ShownOnce(), m.create)
	api.Register(a, keyRoutes.Delete("/v1/keys/{id}", "revoke-key", "Revoke an API key",
		"It ends for good and at once, and with it every ticket that was made from it; what is in progress goes on. Revoking it again "+
			"changes nothing. The key that the request is made with may be revoked too: the next request needs another, which the "+
			"operator can make when none is left. Keys with the role owner or the mark money are revoked by themselves and by owners.", http.StatusNotFound), m.revoke)
}

func viewKey(k *people.Key) wire.APIKey {
	return wire.APIKey{ID: k.ID, Role: k.Role, Money: k.Money, Listen: k.Listens, Speak: k.Speaks, Name: k.Name, Last4: k.Last4, CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt,
		CreatedBy: api.Some(k.Maker), MakerEmail: api.Some(k.MakerEmail)}
}

// Removed is what somebody leaves behind who made these keys.
func Removed(keys []people.Key) wire.Removal { return wire.Removal{Keys: api.Views(keys, viewKey)} }

func (m keys) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.APIKey], error) {
	return api.Pages(in.Limit, func(k people.Key) string { return k.ID }, viewKey)(m.people.Keys(ctx, api.AccountOf(ctx), in.Page()))
}

// maxKeyName bounds a key's name, in bytes.
const maxKeyName = 200

func (m keys) create(ctx context.Context, in *struct{ Body wire.NewKey }) (*api.Secret[wire.CreatedKey], error) {
	name := in.Body.Name
	if strings.TrimSpace(name) == "" || len(name) > maxKeyName || strings.ContainsRune(name, 0) {
		return nil, api.Bad("name: a key needs one of at most %d bytes, without zero characters", maxKeyName)
	}
	p := api.PrincipalOf(ctx)
	if in.Body.Role == people.RoleOwner && !p.Owner || in.Body.Money && !(p.Owner && p.Money) || (in.Body.Listen || in.Body.Speak) && !p.Owner {
		return nil, api.ErrRole
	}
	k, secret, err := m.people.MakeKey(ctx, people.NewKey{Account: p.Account, Name: name, Role: in.Body.Role, Money: in.Body.Money, Listens: in.Body.Listen || in.Body.Speak, Speaks: in.Body.Speak, Maker: p.Maker()})
	if err != nil {
		return nil, err
	}
	return api.NotStored(wire.CreatedKey{APIKey: viewKey(&k), Secret: secret}), nil
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

// secrets serves what an account's agents need to use its services.
type secrets struct{ vault *people.Vault }

var secretRoutes = managed("Secrets")

// MountSecrets adds the routes of secrets.
func MountSecrets(a *api.API, vault *people.Vault) {
	const one = "/v1/secrets/{name}"
	m := secrets{vault}
	api.Register(a, secretRoutes.Get("/v1/secrets", "list-secrets", "List the account's secrets",
		"By name. Values are never shown."), m.list)
	put := secretRoutes.Put(one, "put-secret", "Store a secret",
		"Functions of agents refer to it as `{{secret.NAME}}`, in headers and queries. It is sent to its `hosts` only: bind each secret, for one that is "+
			"not bound goes wherever a function of the account sends it. An account keeps 100 at most. What was there under the name is "+
			"replaced; conversations in progress go on with what they began with. The value is stored encrypted and never shown again.")
	put.Missing = api.Bad("name: a letter, then up to 63 letters, digits and _")
	api.Register(a, put, m.put)
	api.Register(a, secretRoutes.Delete(one, "delete-secret", "Delete a secret", "Functions that refer to it fail from the next conversation on.", http.StatusNotFound), m.remove)
}

func viewSecret(s *people.Secret) wire.AccountSecret {
	return wire.AccountSecret{Name: s.Name, Hosts: append([]string{}, s.Hosts...), CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
}

func (m secrets) list(ctx context.Context, in *api.ShortPaging) (*api.Listed[wire.AccountSecret], error) {
	return api.Pages(in.Limit, func(s people.Secret) string { return s.Name }, viewSecret)(m.vault.List(ctx, api.AccountOf(ctx), api.Paging(*in).Page()))
}

type secretInput struct {
	Name string `path:"name" doc:"A letter, then up to 63 letters, digits and _." example:"BOOKING_KEY"`
	Body struct {
		Value string   `json:"value" doc:"One line, 8,192 bytes at most." minLength:"1" maxLength:"8192" example:"Bearer 8f0c…"`
		Hosts []string `json:"hosts,omitempty" doc:"Where it may be sent: names of hosts or addresses, and *.example.com for all below. Without it, the secret stays bound as it is; a new one is not bound." maxItems:"20" example:"[\"api.example.com\"]"`
	}
}

func (m secrets) put(ctx context.Context, in *secretInput) (*api.Reply[wire.AccountSecret], error) {
	return api.Show(viewSecret)(m.vault.Put(ctx, api.AccountOf(ctx), in.Name, in.Body.Value, in.Body.Hosts))
}

func (m secrets) remove(ctx context.Context, in *struct {
	Name string `path:"name" doc:"The secret's name." example:"BOOKING_KEY"`
}) (*struct{}, error) {
	return nil, m.vault.Delete(ctx, api.AccountOf(ctx), in.Name)
}
