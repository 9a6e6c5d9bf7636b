package docs_test

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// operate sends a request with an operator's key, and reads the answer.
func operate(method, path, body string, into any) {
	read(send(method, path, body, "Authorization", "Bearer "+os.Getenv("OPERATOR_KEY")), into)
}

type account struct {
	ID, Name  string
	Balance   json.Number
	Suspended bool
	Key       string `json:"api_key"`
}

func Example_account() {
	var mine struct {
		Name        string
		Key         struct{ Name, Role string }
		Concurrency struct{ Live, Limit int }
	}
	ask("GET", "/v1/account", "", &mine)
	fmt.Printf("%s, with the key %s (%s)\n", mine.Name, mine.Key.Name, mine.Key.Role)
	fmt.Printf("concurrency: %d of %d\n", mine.Concurrency.Live, mine.Concurrency.Limit)
}

func Example_accounts() {
	var made, limited, now account
	// The answer holds a key of the account, this once: it is whose the account is.
	operate("POST", "/v1/operator/accounts", `{"name": "Casa Lola", "create_key": true}`, &made)
	fmt.Println(made.ID, made.Key)
	var list struct{ Data []account }
	operate("GET", "/v1/operator/accounts?limit=5", "", &list)
	for _, a := range list.Data {
		fmt.Println(a.Name, a.Balance)
	}
	one := "/v1/operator/accounts/" + made.ID
	operate("PATCH", one, `{"suspended": true, "concurrency": 20}`, &limited)
	fmt.Printf("suspended: %t\n", limited.Suspended)
	operate("POST", one+"/resolve-disputes", "", &now)
	operate("PATCH", one, `{"suspended": false}`, &now)
	operate("GET", one, "", &now)
	fmt.Printf("suspended: %t\n", now.Suspended)
}

func Example_agents() {
	var agent struct{ ID, Name string }
	ask("POST", "/v1/agents", `{"name": "Lola", "voice": "F1", "language": "en", "prompt": "We are open from nine to six.", "metadata": {"team": "sales"}}`, &agent)
	path := "/v1/agents/" + agent.ID

	// The ETag makes sure that nobody else has changed it in between.
	now := send("GET", path, "")
	read(now, &agent)
	read(send("PATCH", path, `{"name": "Lola the Second"}`, "If-Match", now.Header.Get("ETag")), &agent)
	fmt.Println(agent.Name)

	var page struct{ Data []json.RawMessage }
	ask("GET", "/v1/agents?limit=5&metadata[team]=sales", "", &page)
	fmt.Println(len(page.Data), "agents of the team")
	send("DELETE", path, "").Body.Close()
	fmt.Println("deleted")
}

func Example_nodes() {
	var nodes struct {
		Data []struct {
			Name, State, Address string
			Calls                int
		}
	}
	operate("GET", "/v1/operator/nodes", "", &nodes)
	for _, n := range nodes.Data {
		fmt.Println(n.Name, n.State, "at", n.Address, "has", n.Calls, "calls")
	}
}

func Example_checks() {
	var checks struct {
		Data []struct{ Name, Status, Detail, Fix string }
	}
	operate("GET", "/v1/operator/checks", "", &checks)
	for _, check := range checks.Data {
		fmt.Println(check.Status, check.Name, check.Detail, check.Fix)
	}
}

func Example_engineKeys() {
	const keys = "/v1/engine-keys"
	send("PUT", keys+"/opus", `{"key": "the-key-of-anthropic-2a71"}`).Body.Close()
	var list struct {
		Data []struct{ Engine, Last4 string }
	}
	ask("GET", keys, "", &list)
	for _, key := range list.Data {
		fmt.Println(key.Engine, "…"+key.Last4) // the key is never shown
	}
	var test struct {
		OK    bool
		Took  int `json:"took_ms"`
		Error struct{ Code string }
	}
	ask("POST", keys+"/opus/test", "", &test)
	fmt.Println(test.OK, test.Took, "ms", test.Error.Code)

	send("DELETE", keys+"/opus", "").Body.Close()
	fmt.Println("removed")
}

const orderStatus = `{
	"type": "http", "name": "order_status", "description": "Returns the status of an order.",
	"parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
	"http": {"method": "GET", "url": "https://api.example.com/orders/{order}",
		"headers": {"Authorization": "Bearer {{secret.ORDERS_CREDENTIAL}}"}}}`

func Example_functions() {
	send("PUT", "/v1/secrets/ORDERS_CREDENTIAL", `{"value": "8f0c2a71"}`).Body.Close()
	var secrets struct{ Data []struct{ Name string } }
	ask("GET", "/v1/secrets", "", &secrets)
	for _, secret := range secrets.Data {
		fmt.Println(secret.Name) // values are never shown
	}
	var agent struct {
		ID    string
		Tools []struct{ Name string }
	}
	ask("POST", "/v1/agents", `{"name": "Orders", "tools": [`+orderStatus+`]}`, &agent)
	fmt.Println(agent.ID, "calls", agent.Tools[0].Name)

	send("DELETE", "/v1/agents/"+agent.ID, "").Body.Close()
	send("DELETE", "/v1/secrets/ORDERS_CREDENTIAL", "").Body.Close()
	fmt.Println("removed")
}

func Example_functionTest() {
	var test struct {
		Outcome, Result string
		Took            int `json:"took_ms"`
	}
	ask("POST", "/v1/functions/test", `{"tools": [`+orderStatus+`], "name": "order_status", "arguments": {"order": "42"}}`, &test)
	fmt.Println(test.Outcome, "after", test.Took, "ms:", test.Result) // what the model would read
}

func Example_compare() {
	var found struct {
		Calls []struct {
			ID      string `json:"call_id"`
			Outcome string
			Answers []struct {
				Heard         string
				Recorded, Now struct{ Text string }
			}
		}
	}
	ask("POST", "/v1/agents/"+os.Getenv("AGENT_ID")+"/compare", `{"calls": 5, "definition": {"name": "Lola", "prompt": "We are open from ten to six.", "settings": {"min_endpoint_ms": 700}}}`, &found)
	differ := 0
	for _, call := range found.Calls {
		for _, turn := range call.Answers {
			fmt.Println(turn.Heard, "|", turn.Recorded.Text, "→", turn.Now.Text)
		}
		if call.Outcome == "differs" {
			differ++
		}
	}
	fmt.Println(len(found.Calls), "recorded calls,", differ, "would differ")
}

func Example_invitations() {
	var made struct{ ID, URL string }
	email := "guest-" + rand.Text() + "@example.com"
	ask("POST", "/v1/invitations", fmt.Sprintf(`{"email": %q, "role": "member"}`, email), &made)
	fmt.Println(made.URL) // this once: send it to them
	var list struct {
		Data []struct {
			Email   string
			Expires string `json:"expires_at"`
		}
	}
	ask("GET", "/v1/invitations", "", &list)
	for _, i := range list.Data {
		fmt.Println(i.Email, "until", i.Expires)
	}
	send("DELETE", "/v1/invitations/"+made.ID, "").Body.Close()
	fmt.Println(made.ID, "taken back")
}

func Example_keys() {
	var created struct{ ID string }
	ask("POST", "/v1/keys", `{"name": "website"}`, &created) // the answer holds the key itself, this once
	var keys struct{ Data []struct{ ID, Name string } }
	ask("GET", "/v1/keys", "", &keys)
	for _, key := range keys.Data {
		fmt.Println(key.ID, key.Name)
	}
	send("DELETE", "/v1/keys/"+created.ID, "").Body.Close()
	fmt.Println(created.ID, "revoked")
}

func Example_members() {
	var people struct {
		Data []struct {
			User  string `json:"user_id"`
			Email string
		}
	}
	ask("GET", "/v1/members", "", &people)
	for _, p := range people.Data {
		switch {
		case strings.HasSuffix(p.Email, "@former.example.com"): // left
			send("DELETE", "/v1/members/"+p.User, "").Body.Close()
		case strings.HasSuffix(p.Email, "@agency.example.com"): // helps out, and need not invite people
			send("PATCH", "/v1/members/"+p.User, `{"role": "member"}`).Body.Close()
		}
	}
	fmt.Println("everybody was looked at")
}

func good(key []byte, h http.Header, body []byte) bool {
	id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, s := range strings.Fields(h.Get("webhook-signature")) {
		if hmac.Equal([]byte(s), []byte(want)) {
			return true
		}
	}
	return false
}

func Example_receiver() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil {
		log.Fatal(err)
	}
	var seen sync.Map // in earnest a table: an event may come twice
	http.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // as it came: not parsed and written anew
		var event struct {
			ID, Type string
			Data     struct{ ID string }
		}
		if err != nil || !good(key, r.Header, body) || json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent) // within five seconds: work comes later
		if _, again := seen.LoadOrStore(event.ID, true); !again {
			fmt.Println(event.Type, event.Data.ID)
		}
	})
	log.Fatal(http.ListenAndServe(":"+cmp.Or(os.Getenv("PORT"), "8000"), nil))
}

func Example_incoming() {
	var own struct{ Numbers []struct{ ID string } }
	ask("GET", "/callcenter/numbers", "", &own)
	assign := "/callcenter/numbers/" + own.Numbers[0].ID + "/assign"
	var hook webhook
	ask("POST", "/v1/webhooks", `{"url": "https://bookings.example/incoming", "events": ["call.incoming"]}`, &hook)

	// From now on it answers such as {"agent_id": "ag_…", "variables": {"name": "Ann"}} while it rings.
	var bound struct {
		Webhook string `json:"webhook_id"`
	}
	ask("POST", assign, `{"webhook_id": "`+hook.ID+`"}`, &bound)
	fmt.Println(bound.Webhook)

	ask("POST", assign, `{"webhook_id": ""}`, &bound) // it is not asked any more
	send("DELETE", "/v1/webhooks/"+hook.ID, "").Body.Close()
	fmt.Println("removed")
}

func Example_listening() {
	const address = "http://localhost:3000/parley" // for people: nothing is sent there
	var made webhook
	ask("POST", "/v1/webhooks", `{"url": "`+address+`", "listen": true}`, &made)
	hook := "/v1/webhooks/" + made.ID
	send("POST", hook+"/test", "").Body.Close()

	var taken struct {
		Event *struct { // nil: none has come
			ID, Type, Body string
			Headers        map[string]string
		}
	}
	ask("POST", hook+"/deliveries/take?wait=20", "", &taken)
	fmt.Println(taken.Event.Type)

	post, err := http.NewRequest("POST", address, strings.NewReader(taken.Event.Body))
	if err != nil {
		log.Fatal(err)
	}
	for name, value := range taken.Event.Headers {
		post.Header.Set(name, value)
	}
	if answer, err := http.DefaultClient.Do(post); err != nil {
		fmt.Println("nothing answers there")
	} else {
		answer.Body.Close()
	}

	// The status of the answer; 0 when there was none.
	var delivery struct{ State string }
	ask("POST", hook+"/deliveries/"+taken.Event.ID+"/attempts", `{"status": 200, "latency_ms": 12}`, &delivery)
	fmt.Println(delivery.State)
	send("DELETE", hook, "").Body.Close()
	fmt.Println("removed")
}

func Example_users() {
	const path = "/v1/operator/users"
	var users struct {
		Data []struct{ ID, Email string }
	}
	operate("GET", path+"?limit=100", "", &users)
	fmt.Println("users:", len(users.Data))
	for _, user := range users.Data {
		if user.Email == "gone@example.com" {
			var left struct{ Keys []struct{ ID, Name string } }
			operate("PATCH", path+"/"+user.ID, `{"disabled": true}`, &left)
			operate("DELETE", path+"/"+user.ID+"?keys=revoke", "", &left)
			fmt.Println(left.Keys)
		}
	}
}

func Example_tests() {
	var agent, made, one struct{ ID, Name string }
	ask("POST", "/v1/agents", `{"name": "Lola", "first_message": "Casa Lola, hello.",
		"prompt": "When the caller says \"when are you open\": We are open from nine to six."}`, &agent)
	cases := "/v1/agents/" + agent.ID + "/cases"
	ask("POST", cases, `{"name": "Hours", "script": {"caller": [{"say": "When are you open?"}]}}`, &made)
	ask("PUT", cases+"/"+made.ID, `{"name": "Opening hours", "script": {"caller": [{"say": "When are you open?", "expect": ["nine"]}],
		"criteria": [{"name": "closing time", "rubric": "The agent also says when it closes: \"to six\"."}]}}`, &made)
	ask("GET", cases+"/"+made.ID, "", &one)
	var all struct{ Data []json.RawMessage }
	ask("GET", cases, "", &all)
	fmt.Println(one.Name, len(all.Data))

	var s struct {
		ID      string
		State   string
		OK      bool
		EndedAt *time.Time `json:"ended_at"`
	}
	for _, wanted := range []string{`{}`, // all cases of the agent as it is, and of a draft
		`{"cases": ["` + made.ID + `"], "runs": 2, "definition": {"name": "Lola", "prompt": "We are closed."}}`} {
		s.EndedAt = nil
		ask("POST", "/v1/agents/"+agent.ID+"/simulations", wanted, &s)
		for s.EndedAt == nil {
			time.Sleep(500 * time.Millisecond)
			ask("GET", "/v1/simulations/"+s.ID, "", &s) // with what each case came to
		}
		fmt.Printf("%s: %v\n", s.State, s.OK)
	}
	ask("POST", "/v1/simulations/"+s.ID+"/cancel", "", &s) // one that has ended stays as it is
	ask("GET", "/v1/agents/"+agent.ID+"/simulations", "", &all)
	fmt.Println(len(all.Data), "simulations")
	send("DELETE", cases+"/"+made.ID, "").Body.Close()
	send("DELETE", "/v1/agents/"+agent.ID, "").Body.Close()
}

func Example_versions() {
	var schema struct{ Properties map[string]json.RawMessage }
	ask("GET", "/v1/agents/schema", "", &schema) // editors check agents by it
	fmt.Println(len(schema.Properties), "fields")

	var check struct {
		Valid    bool
		Mistakes []struct{ Path, Problem string }
	}
	ask("POST", "/v1/agents/validate", `{"name": "Lola", "settings": {"speed": 9}}`, &check) // nothing is stored
	fmt.Println(check.Valid, check.Mistakes)

	var agent struct {
		ID           string
		Version      int
		FirstMessage string `json:"first_message"`
	}
	ask("POST", "/v1/agents", `{"name": "Lola", "first_message": "Hello {{caller.name}} from {{city}}!",
		"settings": {"variables": {"city": "Rome"}}}`, &agent)
	path := "/v1/agents/" + agent.ID
	ask("PATCH", path, `{"first_message": "Hello!"}`, &agent)

	var versions struct{ Data []json.RawMessage }
	ask("GET", path+"/versions", "", &versions)
	fmt.Println(len(versions.Data), "versions")
	var diff, first json.RawMessage
	ask("GET", path+"/versions/2/diff", "", &diff)
	fmt.Println("changed:", string(diff))
	ask("GET", path+"/versions/1", "", &first)
	// Refused by 412 when somebody else has changed it in between.
	read(send("PUT", path, string(first), "If-Match", fmt.Sprintf(`"%d"`, agent.Version)), &agent)
	fmt.Println("restored:", agent.FirstMessage)

	send("DELETE", path, "").Body.Close()
}

type webhook struct {
	ID, URL, Secret string
	Events          []string
}

func Example_webhooks() {
	var made, one, rotated webhook // the secret is shown this once: keep it
	ask("POST", "/v1/webhooks", `{"url": "https://bookings.example/parley", "events": ["call.ended", "call.transcript"]}`, &made)
	hook := "/v1/webhooks/" + made.ID
	var all struct{ Data []webhook }
	ask("GET", "/v1/webhooks", "", &all)
	for _, w := range all.Data {
		fmt.Println(w.ID, w.URL)
	}
	send("PATCH", hook, `{"description": "Bookings"}`).Body.Close()
	ask("GET", hook, "", &one)
	fmt.Println(one.Events)

	var event struct{ ID string }
	ask("POST", hook+"/test", "", &event)
	var deliveries struct {
		Data []struct{ Type, State string }
	}
	ask("GET", hook+"/deliveries?limit=5", "", &deliveries)
	fmt.Println(deliveries.Data)
	send("POST", hook+"/deliveries/"+event.ID+"/retry", "").Body.Close()

	ask("POST", hook+"/rotate", "", &rotated) // both secrets sign for a day
	fmt.Println(rotated.Secret != made.Secret)
	send("DELETE", hook, "").Body.Close()
	fmt.Println("removed")
}
