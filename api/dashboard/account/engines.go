package account

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/dashboard/report"
	"parley/api/status"
	"parley/api/wire"
)

const (
	EnginesAt       = page.Home + "/engines"
	EnginesTitle    = "Engines"
	engineKeysRoute = "/v1/engine-keys"
)

func enginePages() []page.Page {
	const one = EnginesAt + "/keys/{engine}"
	return []page.Page{
		{Route: "GET " + EnginesAt, Open: page.Users, Serve: enginesPage},
		{Route: "GET " + EnginesAt + "/state", Open: page.Users, Serve: enginesState},
		{Route: "POST " + EnginesAt + "/keys", Form: setEngineKey},
		{Route: "POST " + one + "/test", Serve: testEngineKey},
		{Route: "POST " + one + "/delete", Serve: deleteEngineKey},
	}
}

// enginesView is the server's engines, with the keys that the account has for them.
type enginesView struct {
	serverState
	Own    bool // an account is looked at
	Keyed  []keyedEngine
	Form   *page.Form  // sets a key
	Tested *engineTest // nil: none was tested just now
	Waits  []wire.EngineLatency
	Counts bool               // Used is known: an account is looked at, or an operator looks
	Used   report.UsedEngines // in sessions that began this month
}

// keyedEngine is an engine that takes keys, or has one.
type keyedEngine struct {
	Name string
	For  []string        // what it does; nil: it takes no keys any more
	Key  *wire.EngineKey // nil: none
}

// engineTest is how the test of a key went.
type engineTest struct {
	Engine string
	wire.EngineTest
}

// Engines are those that take keys, to choose from.
func (v *enginesView) Engines() page.Field {
	var choices []page.Option
	for _, e := range v.Keyed {
		if e.For != nil {
			choices = append(choices, page.Option{Value: e.Name, Label: e.Name})
		}
	}
	return v.Form.Select("engine", "Engine", "", choices, "required", "width=short")
}

// Speakers are the engines that speak, to choose from.
func (v *enginesView) Speakers() page.Field {
	var choices []page.Option
	for _, g := range v.Groups {
		for _, m := range g.Models {
			if m.Kind == status.TTS {
				choices = append(choices, page.Option{Value: m.Name, Label: m.Name})
			}
		}
	}
	return v.Form.Select("engines_tts_engine", "Spoken by", "", choices, "width=short")
}

// Voices are the choices.
func (*enginesView) Voices() []page.Option { return page.VoiceOptions() }

// Languages are the choices.
func (*enginesView) Languages() []page.Option { return page.LanguageOptions() }

func newEnginesView(q *page.Request, f *page.Form) (*enginesView, error) {
	v := &enginesView{serverState: newServerState(q), Own: q.Account() != "", Form: f}
	v.Counts = v.Own || q.Browser.User.Operator()
	if !v.Counts {
		return v, nil
	}
	used, err := usedThisMonth(q)
	if v.Used = used; err != nil || !v.Own {
		return v, err
	}
	keys, err := page.Read[api.List[wire.EngineKey]](q, engineKeysRoute)
	if err != nil {
		return nil, err
	}
	v.Keyed = keyed(v.Groups, keys.Data)
	waits, err := page.Read[struct{ Data []wire.EngineLatency }](q, "/v1/latency/engines")
	v.Waits = waits.Data
	return v, err
}

// usedThisMonth is what engines used for the account that is looked at, without one for all that an operator looks after.
func usedThisMonth(q *page.Request) (report.UsedEngines, error) {
	of := "/v1/usage/engines"
	if q.Account() == "" {
		of = "/v1/operator/usage/engines"
	}
	sums, err := page.Read[struct{ Data report.UsedEngines }](q, of+"?from="+time.Now().UTC().Format("2006-01-")+"01")
	return sums.Data, err
}

// keyed are the engines that take keys and those that have one, by name. Several stages may have one of a name.
func keyed(groups []engineGroup, keys []wire.EngineKey) (list []keyedEngine) {
	all := map[string]keyedEngine{}
	for _, g := range groups {
		for _, m := range g.Models {
			if m.TakesKeys {
				all[m.Name] = keyedEngine{Name: m.Name, For: append(all[m.Name].For, g.Title)}
			}
		}
	}
	for i, k := range keys {
		all[k.Engine] = keyedEngine{k.Engine, all[k.Engine].For, &keys[i]}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list
}

func enginesPage(q *page.Request) error {
	return q.Show("engines", EnginesTitle)(newEnginesView(q, &page.Form{}))
}

// engineKeyRoute is the API's address of the account's key for an engine.
func engineKeyRoute(engine string) string { return page.Path(engineKeysRoute+"/", engine) }

func setEngineKey(q *page.Request, f *page.Form) error {
	engine := f.Need("engine", "Choose the engine.")
	in := map[string]string{"key": f.Need("key", "Enter the key, as its vendor shows it.")}
	again := func() error { return q.ShowInvalid("engines", "engine-key-form", EnginesTitle)(newEnginesView(q, f)) }
	if done, err := q.Submit(f, http.MethodPut, engineKeyRoute(engine), in, nil, again); !done {
		return err
	}
	return q.Done(EnginesAt, "The key for "+engine+" was set. Conversations that begin from now on work with it.")
}

func testEngineKey(q *page.Request) error {
	tested := &engineTest{Engine: q.ID("engine")}
	if err := q.Call(http.MethodPost, engineKeyRoute(tested.Engine)+"/test", nil, &tested.EngineTest); err != nil {
		return err
	}
	v, err := newEnginesView(q, &page.Form{})
	if err != nil {
		return err
	}
	v.Tested = tested
	return q.Page("engines", EnginesTitle, v)
}

func deleteEngineKey(q *page.Request) error {
	return q.Do(http.MethodDelete, engineKeyRoute(q.ID("engine")), nil, EnginesAt, "The key was deleted. Conversations in progress go on with it.")
}

// serverState is what the server works with, and whether it works.
type serverState struct {
	Health status.ServiceHealth
	Report status.ServerReport
	Groups []engineGroup
	Busy   float64 // the share of the server's calls that is in use
}

// engineGroup is the engines that do the same.
type engineGroup struct {
	Title, What string
	Models      []status.ServiceModel
}

// Uptime is how long the program runs, for templates.
func (v serverState) Uptime() time.Duration {
	return time.Duration(v.Report.UptimeSeconds) * time.Second
}

// Load is what share of the server's calls is in use, in percent.
func (v serverState) Load() int { return int(v.Busy*100 + 0.5) }

func newServerState(q *page.Request) serverState {
	ctx := q.Context()
	v := serverState{Health: q.Status.ServiceHealth(ctx), Report: q.Status.Report(ctx), Busy: q.Status.Load()}
	groups := map[status.Kind]*engineGroup{status.STT: {Title: "Hearing", What: "turns speech into text"},
		status.LLM: {Title: "Answering", What: "decides what to say"}, status.TTS: {Title: "Speaking", What: "turns text into speech"},
		status.Realtime: {Title: "All in one", What: "hears, answers and speaks, for agents that name it"}}
	for _, m := range q.Status.ServiceModels(ctx).Models {
		if g := groups[m.Kind]; g != nil {
			g.Models = append(g.Models, m)
		}
	}
	for _, k := range []status.Kind{status.STT, status.LLM, status.TTS, status.Realtime} {
		if g := groups[k]; k != status.Realtime || len(g.Models) > 0 {
			v.Groups = append(v.Groups, *g)
		}
	}
	return v
}

// enginesState is the part that is asked for again and again.
func enginesState(q *page.Request) error {
	return q.Part("engines", "engines-state", newServerState(q))
}
