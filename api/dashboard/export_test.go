package dashboard

// Hashed is how many passwords were hashed.
func (d *Dashboard) Hashed() int64 { return d.hasher.done.Load() }
