package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"parley/api"
)

// Once names what a form asks for. The page keeps it in a hidden field, so that a form that
// comes twice, by a second click or by loading its answer again, is known to be the same.
func (f *Form) Once() string {
	const field = "once"
	if f.Value(field) == "" {
		f.Values.Set(field, rand.Text())
	}
	return f.Value(field)
}

// CallOnce is Call for what must not happen twice when its form comes twice: the second
// time it is answered as the first. What is asked for is part of the name: who goes back
// and changes it asks for something else. A form without a name is one of its own.
func (q *Request) CallOnce(f *Form, method, address string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(f.Once()+"\n"), text...))
	return q.d.api.Call(api.WithIdempotencyKey(q.Context(), hex.EncodeToString(sum[:])), q.Principal(), method, address, in, out)
}
