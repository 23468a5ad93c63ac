//! Where work is done: on a CUDA device, with the processor to fall back on.

use meniscus_kernels::cuda::Failure;

/// Where to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// A CUDA device where there is one, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device, or an error.
    Cuda,
}

/// Work of one kind on a device that is opened when the first comes, or what has become of it: where the device is not
/// required, the processor takes over from the first failure on. Holds only caches.
pub(crate) struct Place<T> {
    open: Box<dyn Fn() -> Result<T, Failure> + Send>,
    required: bool,
    stands: Stands<T>,
    /// What the processor does instead: "pressure is solved".
    what: &'static str,
    notice: Option<String>,
}

enum Stands<T> {
    /// Nothing has come yet.
    Unknown,
    /// On the device.
    Device(Box<T>),
    /// On the processor, since it was asked for or the device failed.
    Processor,
}

impl<T> Place<T> {
    /// Work on what `open` opens.
    pub(crate) fn new(
        open: impl Fn() -> Result<T, Failure> + Send + 'static,
        required: bool,
        what: &'static str,
    ) -> Self {
        Self { open: Box::new(open), required, stands: Stands::Unknown, what, notice: None }
    }

    /// The same, on the processor from the start.
    pub(crate) fn on_processor(self) -> Self {
        Self { stands: Stands::Processor, ..self }
    }

    /// The device's side of the work, while it is on the device.
    pub(crate) fn there(&self) -> Option<&T> {
        match &self.stands {
            Stands::Device(there) => Some(there),
            Stands::Unknown | Stands::Processor => None,
        }
    }

    /// A sentence to tell once: why the work is not done on the device.
    pub(crate) fn notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Does something on the device; `None` where the processor must, an error where that will not do.
    pub(crate) fn try_there<R>(
        &mut self,
        act: impl FnOnce(&mut T) -> Result<R, Failure>,
    ) -> Result<Option<R>, Failure> {
        if matches!(self.stands, Stands::Unknown) {
            match (self.open)() {
                Ok(there) => self.stands = Stands::Device(Box::new(there)),
                Err(failure) => self.give_up(failure)?,
            }
        }
        let Stands::Device(there) = &mut self.stands else { return Ok(None) };
        match act(there) {
            Ok(done) => Ok(Some(done)),
            Err(failure) => self.give_up(failure).map(|()| None),
        }
    }

    /// Gives the device up: an error where it is required, else a notice.
    fn give_up(&mut self, failure: Failure) -> Result<(), Failure> {
        self.stands = Stands::Unknown;
        if self.required {
            return Err(failure);
        }
        self.stands = Stands::Processor;
        self.notice = Some(format!("{} on the processor: {failure}", self.what));
        Ok(())
    }
}
