package operator

import (
	"context"

	"parley/api"
)

// Check is what was found out about one thing that a server needs.
type Check struct {
	Name   string `json:"name" doc:"What was looked at." example:"http port"`
	Status string `json:"status" doc:"warn: it works with a restriction." enum:"ok,warn,fail"`
	Detail string `json:"detail" doc:"What was found."`
	Fix    string `json:"fix" doc:"What to do about it; empty when it is ok."`
}

type checkList struct {
	Data []Check `json:"data" doc:"All checks." nullable:"false"`
}

type checkListOutput struct{ Body checkList }

// MountChecks adds the route that checks what the server needs, as look does, which may
// take a minute.
func MountChecks(a *api.API, look func(context.Context) ([]Check, error)) {
	api.Register(a, routes.Get("/v1/operator/checks", "check-setup", "Check what the server needs",
		"Ports, engines, the database and what else `parley doctor` looks at, on the server that is asked. It takes seconds; within five of the last time its findings are repeated."),
		func(ctx context.Context, _ *struct{}) (*checkListOutput, error) {
			found, err := look(ctx)
			return &checkListOutput{checkList{append([]Check{}, found...)}}, err
		})
}
