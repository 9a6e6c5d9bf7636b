package manage

import (
	"parley/store/people"

	"context"
	"net/http"
	"time"

	"parley/api"
)

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

// AccountSecret is a secret as its owner sees it.
type AccountSecret struct {
	Name      string    `json:"name" doc:"How functions refer to it: {{secret.NAME}}." example:"BOOKING_KEY"`
	Hosts     []string  `json:"hosts" doc:"Where it may be sent; empty: wherever a function sends it." nullable:"false"`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time `json:"updated_at" doc:"When its value was set last."`
}

func viewSecret(s *people.Secret) AccountSecret {
	return AccountSecret{s.Name, append([]string{}, s.Hosts...), s.CreatedAt, s.UpdatedAt}
}

func (m secrets) list(ctx context.Context, in *api.ShortPaging) (*api.Listed[AccountSecret], error) {
	found, err := m.vault.List(ctx, api.AccountOf(ctx), api.Paging(*in).Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(s people.Secret) string { return s.Name }, viewSecret), nil
}

type secretInput struct {
	Name string `path:"name" doc:"A letter, then up to 63 letters, digits and _." example:"BOOKING_KEY"`
	Body struct {
		Value string   `json:"value" doc:"One line, 8,192 bytes at most." minLength:"1" maxLength:"8192" example:"Bearer 8f0c…"`
		Hosts []string `json:"hosts,omitempty" doc:"Where it may be sent: names of hosts or addresses, and *.example.com for all below. Without it, the secret stays bound as it is; a new one is not bound." maxItems:"20" example:"[\"api.example.com\"]"`
	}
}

type secretOutput struct{ Body AccountSecret }

func (m secrets) put(ctx context.Context, in *secretInput) (*secretOutput, error) {
	s, err := m.vault.Put(ctx, api.AccountOf(ctx), in.Name, in.Body.Value, in.Body.Hosts)
	if err != nil {
		return nil, err
	}
	return &secretOutput{viewSecret(s)}, nil
}

func (m secrets) remove(ctx context.Context, in *struct {
	Name string `path:"name" doc:"The secret's name." example:"BOOKING_KEY"`
}) (*struct{}, error) {
	return nil, m.vault.Delete(ctx, api.AccountOf(ctx), in.Name)
}
