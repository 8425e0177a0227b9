//! What the tests are written with: the command and what it must answer, folders and processes,
//! inputs that sorts get wrong, and what is right, said independently of the code under test.

pub mod command;
pub mod counts;
pub mod device;
pub mod elements;
pub mod files;
pub mod inputs;
pub mod oracle;
pub mod pipeline;
pub mod process;
pub mod python;
pub mod requirements;
pub mod texts;
pub mod tier;
pub mod xml;
