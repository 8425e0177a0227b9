//! Write-behind: a thread writes results while the next are made.

use std::thread;

use super::{Meanwhile, meanwhile};

/// What is written with, on another thread while more is made, one piece of work after the other.
pub(crate) struct WriteBehind<'scope, 'env, W, E> {
    scope: &'scope thread::Scope<'scope, 'env>,
    /// It, where this thread has it.
    here: Option<W>,
    /// The work that has it on the other thread. After work that failed, which was told, it is
    /// nowhere.
    there: Option<Meanwhile<'scope, Result<W, E>>>,
}

impl<'scope, 'env, W: Send + 'scope, E: Send + 'scope> WriteBehind<'scope, 'env, W, E> {
    pub(crate) fn new(scope: &'scope thread::Scope<'scope, 'env>, with: W) -> Self {
        Self { scope, here: Some(with), there: None }
    }

    /// Once the work before it is done, does this: at once, if it is little, or else on another
    /// thread.
    ///
    /// # Errors
    ///
    /// The failure of the work before it, or of this work if it is done.
    pub(crate) fn then(
        &mut self,
        is_little: bool,
        work: impl FnOnce(&mut W) -> Result<(), E> + Send + 'scope,
    ) -> Result<(), E> {
        self.wait()?;
        let mut with = self.here.take().expect("no more comes after a failure");
        if is_little {
            work(&mut with)?;
            self.here = Some(with);
        } else {
            self.there = Some(meanwhile(self.scope, move || work(&mut with).map(|()| with)));
        }
        Ok(())
    }

    /// Waits until the work is done.
    ///
    /// # Errors
    ///
    /// Its failure.
    pub(crate) fn wait(&mut self) -> Result<(), E> {
        if let Some(work) = self.there.take() {
            self.here = Some(work.wait()?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_behind_is_written_in_order_and_its_failure_is_told_once() {
        for is_little in [false, true] {
            let mut written = Vec::new();
            let to = &mut written;
            thread::scope(|scope| {
                let write = move |number: u32| {
                    to.push(number);
                    if number == 7 { Err("full") } else { Ok(()) }
                };
                let mut writing = WriteBehind::new(scope, write);
                for number in 0..7 {
                    writing.then(is_little, move |write| write(number)).unwrap();
                }
                writing.wait().unwrap();
                let told = writing.then(is_little, |write| write(7)).and_then(|()| writing.wait());
                assert_eq!(told, Err("full"));
                assert_eq!(writing.wait(), Ok(()));
            });
            assert_eq!(written, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
}
