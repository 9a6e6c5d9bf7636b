package trial

import (
	"encoding/json"
	"errors"

	"parley/api"
	routes "parley/api/cases"
	"parley/api/manage"
	"parley/cmd/parley/conversation"
	"parley/pipeline/schema"
	"parley/pipeline/simulate"
	"parley/store"
	"parley/store/cases"
	"parley/store/jobs"
)

// Options are what the routes of test cases need.
func Options(db *store.DB, q *jobs.Queue, define manage.Definition) routes.Options {
	return routes.Options{Store: cases.New(db), Enqueue: Enqueue(q), Check: check,
		Runs: func(script json.RawMessage) int {
			s, err := simulate.Parse(script)
			if err != nil {
				return 1 // it says so when it is run
			}
			return s.Runs
		},
		Draft: func(document json.RawMessage) (any, error) {
			a := define.New()
			if err := define.Apply(&a, document); err != nil {
				return nil, err
			}
			return conversation.DocumentOf(&a), nil
		},
		Stored: func(a *store.Agent) any { return conversation.DocumentOf(a) }}
}

// check refuses a script with all mistakes in it, each by its path, and one whose runs alone
// are too many.
func check(script json.RawMessage) error {
	s, err := simulate.Parse(script)
	if wrong, ok := errors.AsType[schema.Mistakes](err); ok {
		for i := range wrong {
			wrong[i].Path = schema.Join("script", wrong[i].Path)
		}
		return api.Bad("%s", wrong.Error())
	}
	switch {
	case err != nil:
		return api.Bad("script: %v", err)
	case s.Runs > cases.MaxRuns:
		return api.Bad("script.runs: %d, and %d are the most", s.Runs, cases.MaxRuns)
	}
	return nil
}
