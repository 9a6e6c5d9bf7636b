package conversation

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"parley/api"
	"parley/api/manage"
	"parley/api/wire"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
)

// Tester has the API test functions of agents, which run as in a conversation: with the secrets of the account, and
// where guard lets them go.
func Tester(functions *tool.Provider, guard *tool.Guard) manage.TestFunction {
	return func(ctx context.Context, account string, tools json.RawMessage, name string, arguments json.RawMessage) (wire.FunctionTest, error) {
		if err := mistaken(tool.Mistakes(tools, guard).Err()); err != nil {
			return wire.FunctionTest{}, err
		}
		defs, err := tool.Parse(tools)
		if err != nil {
			return wire.FunctionTest{}, err
		}
		chosen, err := meant(defs, name)
		if err != nil {
			return wire.FunctionTest{}, err
		}
		set := functions.Open(ctx, tool.Who{Account: account}, chosen)
		defer set.Close()
		i := slices.IndexFunc(set.Functions, func(f tool.Function) bool { return f.Spec.Name == name })
		if i < 0 {
			return wire.FunctionTest{}, unknown(name, set.Functions)
		}
		tried := toolbox.Try(ctx, set.Functions[i], string(arguments))
		if ctx.Err() != nil {
			return wire.FunctionTest{}, context.Cause(ctx)
		}
		return wire.FunctionTest{Outcome: tried.Outcome, Result: tried.Result, TookMS: tried.Took.Milliseconds()}, nil
	}
}

// meant are the definitions of which one may have a function: the one of its name, else the servers that bring
// functions of their own.
func meant(defs []tool.Definition, name string) ([]tool.Definition, error) {
	var servers []tool.Definition
	for _, d := range defs {
		if d.Kind == tool.MCPKind {
			servers = append(servers, d)
			continue
		}
		if d.Spec.Name != name {
			continue
		}
		switch d.Kind {
		case tool.HTTPKind:
			return []tool.Definition{d}, nil
		case tool.Client:
			return nil, api.Bad("name: the client of a conversation runs %s, not this server", name)
		}
		return nil, api.Bad("name: %s is charged in conversations, and not tested", name)
	}
	return servers, nil
}

// unknown refuses a name, with those that there are.
func unknown(name string, functions []tool.Function) error {
	if len(functions) == 0 {
		return api.Bad("name: there is no function %s here", name)
	}
	names := make([]string, len(functions))
	for i := range functions {
		names[i] = functions[i].Spec.Name
	}
	return api.Bad("name: there is no function %s here; there are %s", name, strings.Join(names, ", "))
}
