package engine

import "sync"

// inUse has a value for each number that is in use.
type inUse[T any] struct {
	create func(number int64) T

	mu     sync.Mutex
	values map[int64]*counted[T]
}

type counted[T any] struct {
	value T
	users int
}

func newInUse[T any](create func(number int64) T) *inUse[T] {
	return &inUse[T]{create: create, values: map[int64]*counted[T]{}}
}

// join returns the value of a number, and creates it for the first user. Every
// user must call leave.
func (u *inUse[T]) join(number int64) T {
	u.mu.Lock()
	defer u.mu.Unlock()
	own := u.values[number]
	if own == nil {
		own = &counted[T]{value: u.create(number)}
		u.values[number] = own
	}
	own.users++
	return own.value
}

func (u *inUse[T]) leave(number int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	own := u.values[number]
	if own.users--; own.users == 0 {
		delete(u.values, number)
	}
}
