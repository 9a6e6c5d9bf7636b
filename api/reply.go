package api

// Reply is the answer of a route whose body is a T and that has no headers of its own.
type Reply[T any] struct{ Body T }

// Body is the answer with this body.
func Body[T any](body T) *Reply[T] { return &Reply[T]{body} }

// Found is the answer with this body, or err.
func Found[T any](body *T, err error) (*Reply[T], error) {
	if err != nil {
		return nil, err
	}
	return Body(*body), nil
}

// Show makes a handler's answer of what the store has found, as view shows it, or passes on
// why it failed:
//
//	return api.Show(viewKey)(keys.Key(ctx, account, in.ID))
func Show[S, T any](view func(S) T) func(S, error) (*Reply[T], error) {
	return func(found S, err error) (*Reply[T], error) {
		if err != nil {
			return nil, err
		}
		return Body(view(found)), nil
	}
}

// Secret is an answer that holds a secret: no cache may store it.
type Secret[T any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         T
}

// NotStored is the answer with this body.
func NotStored[T any](body T) *Secret[T] { return &Secret[T]{"no-store", body} }
