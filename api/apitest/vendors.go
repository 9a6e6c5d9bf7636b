package apitest

import (
	"context"
	"errors"
	"strings"

	"parley/inference"
)

// Vendors are the fake vendors of engines (manage.Vendors). They take keys that begin with good. One goroutine uses them at a time.
type Vendors struct {
	Names []string // of the engines that take keys; nil: flux and haiku
	Away  bool     // none of them answers
	Tried []string // engines with the keys that they were asked with
}

// TakeKeys implements manage.Vendors.
func (v *Vendors) TakeKeys() []string {
	if v.Names != nil {
		return v.Names
	}
	return []string{"flux", "haiku"}
}

// Try implements manage.Vendors.
func (v *Vendors) Try(_ context.Context, engine, key string) error {
	v.Tried = append(v.Tried, engine+" "+key)
	switch {
	case v.Away:
		return &inference.Error{Engine: engine, Fault: inference.ErrUnavailable, Err: errors.New("no connection")}
	case strings.HasPrefix(key, "good"):
		return nil
	}
	return &inference.Error{Engine: engine, Fault: inference.ErrRefused, Err: errors.New("status 401"), Key: true}
}
