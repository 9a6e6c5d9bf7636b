package manage

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
)

// maxArguments bounds the arguments of a function that is tested, in bytes.
const maxArguments = 64 << 10

// TestFunction runs the function of that name in tools, an agent's list of functions, for an account, as a call
// would, and returns what the model would read. Its error is one of the error table, and names every mistake in
// the list.
type TestFunction func(ctx context.Context, account string, tools json.RawMessage, name string, arguments json.RawMessage) (wire.FunctionTest, error)

type functions struct {
	test TestFunction
	rate *api.Buckets // of tests, by account
}

// MountFunctions adds the route by which functions of agents are tested.
func MountFunctions(a *api.API, test TestFunction) {
	owners := managed("Agents")
	owners.Access = api.Owners
	m := functions{test, api.NewBuckets(testEvery, testBurst)}
	api.Register(a, owners.Post("/v1/functions/test", "test-function", "Test a function of an agent",
		"Runs one function as a conversation would: from this server, with the account's secrets, to addresses that functions may reach, and for as long as it may take; and answers with "+
			"what the model would read. The list is the `tools` of an agent, stored or not; a mistake in it is refused as `POST /v1/agents` refuses it. What the service does, it really does. "+
			"Functions that conversations are charged for are not tested, nor are those of clients. An account may have ten tests at once and ten a minute.").OwnChecks(), m.try)
}

// arguments of a function, a JSON object as it was written.
type arguments struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (arguments) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "What the model would call it with; absent: nothing.", Examples: []any{map[string]any{"order": "42"}}}
}

type functionTestInput struct {
	Body struct {
		Tools     wire.AgentTools `json:"tools"`
		Name      string          `json:"name" doc:"The function; of an MCP server with the name of the entry before it." minLength:"1" maxLength:"100" example:"order_status"`
		Arguments arguments       `json:"arguments,omitempty"`
	}
}

func (m functions) try(ctx context.Context, in *functionTestInput) (*api.Reply[wire.FunctionTest], error) {
	account := api.AccountOf(ctx)
	switch given := in.Body.Arguments.RawMessage; {
	case in.Body.Name == "":
		return nil, api.Bad("name: is missing")
	case len(given) > maxArguments:
		return nil, api.Bad("arguments: more than %d bytes", maxArguments)
	case !m.rate.Take(account):
		return nil, api.ErrRateLimited
	}
	found, err := m.test(ctx, account, in.Body.Tools.RawMessage, in.Body.Name, in.Body.Arguments.RawMessage)
	if err != nil {
		return nil, err
	}
	return api.Body(found), nil
}
