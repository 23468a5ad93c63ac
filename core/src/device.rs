//! Chooses where work is done: on a CUDA device, with the processor as fallback.

use meniscus_kernels::cuda::Failure;

/// The device that the user chose.
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

/// Work of one kind on a device that is opened when the first work comes. If the device is not required, the processor
/// takes over after the first failure and stays in use. Holds only caches.
pub(crate) struct Place<T> {
    open: Box<dyn Fn() -> Result<T, Failure> + Send>,
    required: bool,
    stands: Stands<T>,
    /// What the processor does instead, for messages: "pressure is solved".
    what: &'static str,
    notice: Option<String>,
}

enum Stands<T> {
    /// The device is not opened yet.
    Unknown,
    /// The device does the work.
    Device(Box<T>),
    /// The processor does the work, because it was asked for or the device failed.
    Processor,
}

impl<T> Place<T> {
    /// Work on the device that `open` opens.
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

    /// The device, as long as it does the work.
    pub(crate) fn there(&self) -> Option<&T> {
        match &self.stands {
            Stands::Device(there) => Some(there),
            Stands::Unknown | Stands::Processor => None,
        }
    }

    /// A message to show once: why the work is not done on the device.
    pub(crate) fn notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Runs something on the device; `None` if the processor must do it, an error if only the device may.
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

    /// Stops using the device: an error if it is required, else a notice.
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
